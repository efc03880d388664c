"""The inventory vocabulary: the names that attachments, custom states and content types may use.

The host has no inventory of its own. Clients that manage one still expect these names, so the host always knows them;
a plugin that brings real parts and orders adds its own beside them.
"""

from __future__ import annotations

from collections.abc import Sequence

from host import ModelType, Plugin, State, StatusSet, hookimpl

# Nobody but the client knows the records behind these names, so every id is accepted: no `exists`.
_MODEL_TYPES = (
    ModelType(name="build", label="Build Order", app_label="build", role="build"),
    ModelType(name="company", label="Company", app_label="company", role="purchase_order"),
    ModelType(name="manufacturerpart", label="Manufacturer Part", app_label="company", role="part"),
    ModelType(name="supplierpart", label="Supplier Part", app_label="company", role="part"),
    ModelType(name="purchaseorder", label="Purchase Order", app_label="order", role="purchase_order"),
    ModelType(name="returnorder", label="Return Order", app_label="order", role="return_order"),
    ModelType(name="salesorder", label="Sales Order", app_label="order", role="sales_order"),
    ModelType(name="salesordershipment", label="Sales Order Shipment", app_label="order", role="sales_order"),
    ModelType(name="transferorder", label="Transfer Order", app_label="order", role="transfer_order"),
    ModelType(name="part", label="Part", app_label="part", role="part"),
    ModelType(name="stockitem", label="Stock Item", app_label="stock", role="stock"),
)

_BUILD = (
    State(10, "PENDING", "Pending", "secondary"),
    State(20, "PRODUCTION", "Production", "primary"),
    State(25, "ON_HOLD", "On Hold", "warning"),
    State(30, "CANCELLED", "Cancelled", "danger"),
    State(40, "COMPLETE", "Complete", "success"),
)

_DATA_IMPORT = (
    State(0, "INITIAL", "Initializing", "secondary"),
    State(10, "MAPPING", "Mapping Columns", "primary"),
    State(20, "IMPORTING", "Importing Data", "primary"),
    State(30, "PROCESSING", "Processing Data", "primary"),
    State(40, "COMPLETE", "Complete", "success"),
)

_LABEL_PRINTER = (
    State(100, "CONNECTED", "Connected", "success"),
    State(101, "UNKNOWN", "Unknown", "secondary"),
    State(110, "PRINTING", "Printing", "primary"),
    State(200, "WARNING", "Warning", "warning"),
    State(301, "NO_MEDIA", "No media", "warning"),
    State(302, "PAPER_JAM", "Paper jam", "warning"),
    State(400, "DISCONNECTED", "Disconnected", "danger"),
    State(500, "ERROR", "Error", "danger"),
)

_PURCHASE_ORDER = (
    State(10, "PENDING", "Pending", "secondary"),
    State(20, "PLACED", "Placed", "primary"),
    State(25, "ON_HOLD", "On Hold", "warning"),
    State(30, "COMPLETE", "Complete", "success"),
    State(40, "CANCELLED", "Cancelled", "danger"),
    State(50, "LOST", "Lost", "warning"),
    State(60, "RETURNED", "Returned", "warning"),
)

_RETURN_ORDER = (
    State(10, "PENDING", "Pending", "secondary"),
    State(20, "IN_PROGRESS", "In Progress", "primary"),
    State(25, "ON_HOLD", "On Hold", "warning"),
    State(30, "COMPLETE", "Complete", "success"),
    State(40, "CANCELLED", "Cancelled", "danger"),
)

_RETURN_ORDER_LINE = (
    State(10, "PENDING", "Pending", "secondary"),
    State(20, "RETURN", "Return", "success"),
    State(30, "REPAIR", "Repair", "primary"),
    State(40, "REPLACE", "Replace", "warning"),
    State(50, "REFUND", "Refund", "info"),
    State(60, "REJECT", "Reject", "danger"),
)

_SALES_ORDER = (
    State(10, "PENDING", "Pending", "secondary"),
    State(15, "IN_PROGRESS", "In Progress", "primary"),
    State(20, "SHIPPED", "Shipped", "primary"),
    State(25, "ON_HOLD", "On Hold", "warning"),
    State(30, "COMPLETE", "Complete", "success"),
    State(40, "CANCELLED", "Cancelled", "danger"),
    State(50, "LOST", "Lost", "warning"),
    State(60, "RETURNED", "Returned", "warning"),
)

_STOCK = (
    State(10, "OK", "OK", "success"),
    State(50, "ATTENTION", "Attention needed", "warning"),
    State(55, "DAMAGED", "Damaged", "warning"),
    State(60, "DESTROYED", "Destroyed", "danger"),
    State(65, "REJECTED", "Rejected", "danger"),
    State(70, "LOST", "Lost", "dark"),
    State(75, "QUARANTINED", "Quarantined", "info"),
    State(85, "RETURNED", "Returned", "warning"),
)

_TRANSFER_ORDER = (
    State(10, "PENDING", "Pending", "secondary"),
    State(20, "ISSUED", "Issued", "primary"),
    State(25, "ON_HOLD", "On Hold", "warning"),
    State(30, "COMPLETE", "Complete", "success"),
    State(40, "CANCELLED", "Cancelled", "danger"),
)

_STOCK_HISTORY = (
    State(0, "LEGACY", "Legacy stock tracking entry"),
    State(1, "CREATED", "Stock item created"),
    State(5, "EDITED", "Edited stock item"),
    State(6, "ASSIGNED_SERIAL", "Assigned serial number"),
    State(10, "STOCK_COUNT", "Stock counted"),
    State(11, "STOCK_ADD", "Stock manually added"),
    State(12, "STOCK_REMOVE", "Stock manually removed"),
    State(13, "STOCK_SERIALIZED", "Serialized stock items"),
    State(15, "RETURNED_TO_STOCK", "Returned to stock"),
    State(20, "STOCK_MOVE", "Location changed"),
    State(25, "STOCK_UPDATE", "Stock updated"),
    State(30, "INSTALLED_INTO_ASSEMBLY", "Installed into assembly"),
    State(31, "REMOVED_FROM_ASSEMBLY", "Removed from assembly"),
    State(35, "INSTALLED_CHILD_ITEM", "Installed component item"),
    State(36, "REMOVED_CHILD_ITEM", "Removed component item"),
    State(40, "SPLIT_FROM_PARENT", "Split from parent item"),
    State(42, "SPLIT_CHILD_ITEM", "Split child item"),
    State(45, "MERGED_STOCK_ITEMS", "Merged stock items"),
    State(46, "DISASSEMBLED", "Disassembled"),
    State(47, "CREATED_FROM_DISASSEMBLY", "Created from disassembly"),
    State(48, "CONVERTED_TO_VARIANT", "Converted to variant"),
    State(50, "BUILD_OUTPUT_CREATED", "Build order output created"),
    State(55, "BUILD_OUTPUT_COMPLETED", "Build order output completed"),
    State(56, "BUILD_OUTPUT_REJECTED", "Build order output rejected"),
    State(57, "BUILD_CONSUMED", "Consumed by build order"),
    State(60, "SHIPPED_AGAINST_SALES_ORDER", "Shipped against sales order"),
    State(70, "RECEIVED_AGAINST_PURCHASE_ORDER", "Received against purchase order"),
    State(80, "RETURNED_AGAINST_RETURN_ORDER", "Returned against return order"),
    State(100, "SENT_TO_CUSTOMER", "Sent to customer"),
    State(105, "RETURNED_FROM_CUSTOMER", "Returned from customer"),
)

_STATUS_SETS = (
    StatusSet(name="BuildStatus", states=_BUILD),
    StatusSet(name="DataImportStatusCode", states=_DATA_IMPORT),
    StatusSet(name="LabelPrinterStatus", states=_LABEL_PRINTER),
    StatusSet(name="MachineStatus"),  # what a machine can be is said by the driver of its kind
    StatusSet(name="PurchaseOrderStatus", states=_PURCHASE_ORDER),
    StatusSet(name="ReturnOrderLineStatus", states=_RETURN_ORDER_LINE),
    StatusSet(name="ReturnOrderStatus", states=_RETURN_ORDER),
    StatusSet(name="SalesOrderStatus", states=_SALES_ORDER),
    StatusSet(name="StockHistoryCode", states=_STOCK_HISTORY),
    StatusSet(name="StockStatus", states=_STOCK),
    StatusSet(name="TransferOrderStatus", states=_TRANSFER_ORDER),
)


class Inventory(Plugin):
    """Names of inventory records and their states."""

    title = "Inventory vocabulary"
    description = "Model types and status sets of an inventory, which attachments and custom states refer to"

    @hookimpl
    def model_types(self) -> Sequence[ModelType]:
        return _MODEL_TYPES

    @hookimpl
    def status_sets(self) -> Sequence[StatusSet]:
        return _STATUS_SETS
