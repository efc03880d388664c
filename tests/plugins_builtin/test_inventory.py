"""The vocabulary, compared with tables in the form that clients document it in."""

from __future__ import annotations

import re

import pytest

from builtin_plugins.inventory import Inventory

STATUS_SETS = """
BuildStatus
  10 PENDING "Pending" secondary · 20 PRODUCTION "Production" primary · 25 ON_HOLD "On Hold" warning ·
  30 CANCELLED "Cancelled" danger · 40 COMPLETE "Complete" success
DataImportStatusCode
  0 INITIAL "Initializing" secondary · 10 MAPPING "Mapping Columns" primary · 20 IMPORTING "Importing Data" primary ·
  30 PROCESSING "Processing Data" primary · 40 COMPLETE "Complete" success
LabelPrinterStatus
  100 CONNECTED "Connected" success · 101 UNKNOWN "Unknown" secondary · 110 PRINTING "Printing" primary ·
  200 WARNING "Warning" warning · 301 NO_MEDIA "No media" warning · 302 PAPER_JAM "Paper jam" warning ·
  400 DISCONNECTED "Disconnected" danger · 500 ERROR "Error" danger
MachineStatus
PurchaseOrderStatus
  10 PENDING "Pending" secondary · 20 PLACED "Placed" primary · 25 ON_HOLD "On Hold" warning ·
  30 COMPLETE "Complete" success · 40 CANCELLED "Cancelled" danger · 50 LOST "Lost" warning ·
  60 RETURNED "Returned" warning
ReturnOrderLineStatus
  10 PENDING "Pending" secondary · 20 RETURN "Return" success · 30 REPAIR "Repair" primary ·
  40 REPLACE "Replace" warning · 50 REFUND "Refund" info · 60 REJECT "Reject" danger
ReturnOrderStatus
  10 PENDING "Pending" secondary · 20 IN_PROGRESS "In Progress" primary · 25 ON_HOLD "On Hold" warning ·
  30 COMPLETE "Complete" success · 40 CANCELLED "Cancelled" danger
SalesOrderStatus
  10 PENDING "Pending" secondary · 15 IN_PROGRESS "In Progress" primary · 20 SHIPPED "Shipped" primary ·
  25 ON_HOLD "On Hold" warning · 30 COMPLETE "Complete" success · 40 CANCELLED "Cancelled" danger ·
  50 LOST "Lost" warning · 60 RETURNED "Returned" warning
StockStatus
  10 OK "OK" success · 50 ATTENTION "Attention needed" warning · 55 DAMAGED "Damaged" warning ·
  60 DESTROYED "Destroyed" danger · 65 REJECTED "Rejected" danger · 70 LOST "Lost" dark ·
  75 QUARANTINED "Quarantined" info · 85 RETURNED "Returned" warning
TransferOrderStatus
  10 PENDING "Pending" secondary · 20 ISSUED "Issued" primary · 25 ON_HOLD "On Hold" warning ·
  30 COMPLETE "Complete" success · 40 CANCELLED "Cancelled" danger
"""

STOCK_HISTORY = """
0 LEGACY · 1 CREATED · 5 EDITED · 6 ASSIGNED_SERIAL · 10 STOCK_COUNT · 11 STOCK_ADD · 12 STOCK_REMOVE ·
13 STOCK_SERIALIZED · 15 RETURNED_TO_STOCK · 20 STOCK_MOVE · 25 STOCK_UPDATE · 30 INSTALLED_INTO_ASSEMBLY ·
31 REMOVED_FROM_ASSEMBLY · 35 INSTALLED_CHILD_ITEM · 36 REMOVED_CHILD_ITEM · 40 SPLIT_FROM_PARENT ·
42 SPLIT_CHILD_ITEM · 45 MERGED_STOCK_ITEMS · 46 DISASSEMBLED · 47 CREATED_FROM_DISASSEMBLY ·
48 CONVERTED_TO_VARIANT · 50 BUILD_OUTPUT_CREATED · 55 BUILD_OUTPUT_COMPLETED · 56 BUILD_OUTPUT_REJECTED ·
57 BUILD_CONSUMED · 60 SHIPPED_AGAINST_SALES_ORDER · 70 RECEIVED_AGAINST_PURCHASE_ORDER ·
80 RETURNED_AGAINST_RETURN_ORDER · 100 SENT_TO_CUSTOMER · 105 RETURNED_FROM_CUSTOMER
"""

MODEL_TYPES = {
    "build": "Build Order",
    "company": "Company",
    "manufacturerpart": "Manufacturer Part",
    "supplierpart": "Supplier Part",
    "purchaseorder": "Purchase Order",
    "returnorder": "Return Order",
    "salesorder": "Sales Order",
    "salesordershipment": "Sales Order Shipment",
    "transferorder": "Transfer Order",
    "part": "Part",
    "stockitem": "Stock Item",
}

RULE_SETS = {
    *("admin", "part_category", "part", "bom", "stock_location", "stock"),
    *("build", "purchase_order", "sales_order", "return_order", "transfer_order"),
}


def _documented() -> dict[str, list[tuple[int, str, str, str]]]:
    sets: dict[str, list[tuple[int, str, str, str]]] = {}
    for line in STATUS_SETS.strip().splitlines():
        if not line.startswith(" "):
            states = sets[line] = []
            continue
        for number, name, label, color in re.findall(r'(\d+) ([A-Z_]+) "([^"]+)" ([a-z]+)', line):
            states.append((int(number), name, label, color))
    return sets


@pytest.mark.parametrize("name", _documented())
def test_a_status_set_has_the_documented_states(name):
    """Numbers, names, labels and colours are those that clients know, in their order."""
    sets = {status_set.name: status_set.states for status_set in Inventory().status_sets()}

    assert [(state.key, state.name, state.label, state.color) for state in sets[name]] == _documented()[name]


def test_the_stock_history_has_the_documented_codes():
    """Numbers and names are those that clients know; every code has a label, all of one colour."""
    (states,) = [one.states for one in Inventory().status_sets() if one.name == "StockHistoryCode"]

    documented = [(int(number), name) for number, name in re.findall(r"(\d+) ([A-Z_]+)", STOCK_HISTORY)]
    assert [(state.key, state.name) for state in states] == documented
    assert {state.color for state in states} == {"secondary"}
    assert all(state.label for state in states)


def test_there_are_no_other_status_sets():
    """Every set of the vocabulary is a documented one."""
    assert {one.name for one in Inventory().status_sets()} == {*_documented(), "StockHistoryCode"}


def test_the_model_types_are_the_documented_ones():
    """Names and labels are those that clients send and show, in their order."""
    types = Inventory().model_types()

    assert [(model.name, model.label) for model in types] == list(MODEL_TYPES.items())


def test_a_rule_set_guards_every_model_type():
    """Each type takes attachments, names a rule set that groups can be granted, and accepts any id."""
    for model in Inventory().model_types():
        assert model.attachments
        assert model.role in RULE_SETS
        assert model.exists is None
