"""Names that only one plugin can have: of model types, status sets, imports and export formats."""

from __future__ import annotations

from collections.abc import Collection

from host.contract.models import ModelType, StatusSet
from host.plugins.registry import LoadedPlugin


class Names:
    """Gives each name to the first plugin that wants it."""

    def __init__(self) -> None:
        self.model_types: dict[str, ModelType] = {}
        self.status_sets: dict[str, StatusSet] = {}
        self._holders: dict[tuple[str, str], str] = {}

    def take(self, plugin: LoadedPlugin, others: Collection[LoadedPlugin]) -> str:
        """Give the plugin its names, or say why it cannot have them."""
        twin = next((other.key for other in others if other.object is plugin.object), None)
        if twin is not None:
            return f"It is the same object as plugin '{twin}'; let each entry point name an object of its own."
        wanted = [("model type", one.name) for one in plugin.model_types]
        wanted += [("status set", one.name) for one in plugin.status_sets]
        wanted += [("import of", one.model_type) for one in plugin.import_targets]
        wanted += [("export format", one.name) for one in plugin.export_formats]
        for kind, name in wanted:
            holder = self._holders.get((kind, name))
            if holder is not None:
                return f"The {kind} '{name}' is taken by plugin '{holder}'; give it another name."
        self._holders.update(dict.fromkeys(wanted, plugin.key))
        self.model_types.update((one.name, one) for one in plugin.model_types)
        self.status_sets.update((one.name, one) for one in plugin.status_sets)
        return ""
