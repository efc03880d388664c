"""UI: offer features to the web client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from host.contract.markers import Asked, MaybeAwaitable, hookspec
from host.contract.values import Json, User


@dataclass(frozen=True, slots=True, kw_only=True)
class UIContext:
    """What the client said when it asked for features."""

    feature_type: str
    user: User
    query: Mapping[str, str] = field(default_factory=dict)
    """Query parameters, as text (``target_model``, ``target_id``, ``template_type`` …)."""


@dataclass(frozen=True, kw_only=True)
class UIFeature:
    """One feature of the user interface.

    ``source`` is a JavaScript module, below the plugin's ``static`` folder (``panel.js``) or absolute, with an
    optional ``:function``. ``context`` is handed to that function. ``options`` go to the client as they are.
    """

    feature_type: ClassVar[str] = ""

    key: str
    title: str = ""
    description: str = ""
    icon: str = ""
    """An icon reference ``prefix:icon:variant``, as ``ti:plug:outline``."""
    source: str | None = None
    context: Mapping[str, Json] | None = None
    options: Mapping[str, Json] = field(default_factory=dict)

    def all_options(self) -> dict[str, Json]:
        """Return the options with those that the feature's own class defines."""
        return dict(self.options)


@dataclass(frozen=True, kw_only=True)
class Panel(UIFeature):
    """A panel on a record's page; the module's ``renderPanel`` draws it."""

    feature_type: ClassVar[str] = "panel"


@dataclass(frozen=True, kw_only=True)
class DashboardItem(UIFeature):
    """A tile of the dashboard, ``width`` by ``height`` grid units; ``renderDashboardItem`` draws it."""

    feature_type: ClassVar[str] = "dashboard"

    width: int = 2
    height: int = 1

    def all_options(self) -> dict[str, Json]:
        """Return the options with width and height."""
        return {**self.options, "width": self.width, "height": self.height}


@dataclass(frozen=True, kw_only=True)
class TemplateEditor(UIFeature):
    """An editor for templates; the module's ``getFeature`` makes it."""

    feature_type: ClassVar[str] = "template_editor"


@dataclass(frozen=True, kw_only=True)
class TemplatePreview(UIFeature):
    """A preview for templates; the module's ``getFeature`` makes it."""

    feature_type: ClassVar[str] = "template_preview"


@dataclass(frozen=True, kw_only=True)
class NavigationItem(UIFeature):
    """A link in the menu."""

    feature_type: ClassVar[str] = "navigation"

    url: str

    def all_options(self) -> dict[str, Json]:
        """Return the options with the link's target."""
        return {**self.options, "url": self.url}


@dataclass(frozen=True, kw_only=True)
class SpotlightAction(UIFeature):
    """A command of the spotlight search; the module's ``executeAction`` runs it."""

    feature_type: ClassVar[str] = "spotlight_action"


@dataclass(frozen=True, kw_only=True)
class PrimaryAction(UIFeature):
    """A button on a record's page."""

    feature_type: ClassVar[str] = "primary_action"

    url: str = ""
    color: str = ""

    def all_options(self) -> dict[str, Json]:
        """Return the options with the button's target and colour."""
        return {**self.options, "url": self.url, "color": self.color}


class UIHooks:
    """Hooks of plugins that add to the user interface.

    All of them are called when a client opens ``/api/plugins/ui/features/<type>/``, and all fail alike: a hook that
    raises, or a feature without a key, is left out with an error report; the others stay.
    """

    key = "ui"
    human_name = "User interface"

    @hookspec(asked=Asked.ALL, returns=Panel, many=True)
    def ui_panels(self, context: UIContext) -> MaybeAwaitable[Sequence[Panel]]:
        """Offer panels for the record that ``target_model`` and ``target_id`` name.

        When: a client opens a record's page (feature type ``panel``).
        Return: the panels, in the order to show them.
        Failure: left out, with an error report.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ALL, returns=DashboardItem, many=True)
    def ui_dashboard_items(self, context: UIContext) -> MaybeAwaitable[Sequence[DashboardItem]]:
        """Offer tiles for the dashboard.

        When: a client opens the dashboard (feature type ``dashboard``).
        Return: the tiles a user may choose from.
        Failure: left out, with an error report.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ALL, returns=TemplateEditor, many=True)
    def ui_template_editors(self, context: UIContext) -> MaybeAwaitable[Sequence[TemplateEditor]]:
        """Offer editors for the template that ``template_type`` and ``template_model`` name.

        When: a client edits a template (feature type ``template_editor``).
        Return: the editors.
        Failure: left out, with an error report.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ALL, returns=TemplatePreview, many=True)
    def ui_template_previews(self, context: UIContext) -> MaybeAwaitable[Sequence[TemplatePreview]]:
        """Offer previews for the template that ``template_type`` and ``template_model`` name.

        When: a client previews a template (feature type ``template_preview``).
        Return: the previews.
        Failure: left out, with an error report.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ALL, returns=NavigationItem, many=True)
    def ui_navigation_items(self, context: UIContext) -> MaybeAwaitable[Sequence[NavigationItem]]:
        """Offer links for the menu.

        When: a client draws its menu (feature type ``navigation``).
        Return: the links, in the order to show them.
        Failure: left out, with an error report.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ALL, returns=SpotlightAction, many=True)
    def ui_spotlight_actions(self, context: UIContext) -> MaybeAwaitable[Sequence[SpotlightAction]]:
        """Offer commands for the spotlight search.

        When: a client opens the spotlight (feature type ``spotlight_action``).
        Return: the commands.
        Failure: left out, with an error report.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ALL, returns=PrimaryAction, many=True)
    def ui_primary_actions(self, context: UIContext) -> MaybeAwaitable[Sequence[PrimaryAction]]:
        """Offer buttons for the record that ``target_model`` and ``target_id`` name.

        When: a client opens a record's page (feature type ``primary_action``).
        Return: the buttons, in the order to show them.
        Failure: left out, with an error report.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ALL, returns=UIFeature, many=True)
    def ui_features(self, context: UIContext) -> MaybeAwaitable[Sequence[UIFeature]]:
        """Offer features of a type that has no hook of its own.

        When: a client asks for any type; ``context.feature_type`` says which.
        Return: the features of that type.
        Failure: left out, with an error report.
        Since: 0.1.
        """
        raise NotImplementedError
