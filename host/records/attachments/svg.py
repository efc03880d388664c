"""SVG images: only what draws is kept, so that a browser that opens one runs nothing and fetches nothing.

The image is parsed as XML and written anew, with the elements and attributes of a list and no others. Declarations of
entities, which could make a small file large or read other files, are refused. No tree is built.
"""

from __future__ import annotations

import re
from typing import Any, BinaryIO, Final
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

_CHUNK: Final = 64 * 1024
_DEEPEST: Final = 200
_LONGEST_TEXT: Final = 1024 * 1024
_SVG: Final = "http://www.w3.org/2000/svg"
_XLINK: Final = "http://www.w3.org/1999/xlink"
_XML: Final = "http://www.w3.org/XML/1998/namespace"

# No script, no foreignObject, nothing that plays, and no animation: that can change an address afterwards.
_ELEMENTS: Final = frozenset(
    """
    a circle clipPath defs desc ellipse feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix
    feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR
    feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile
    feTurbulence filter g image line linearGradient marker mask metadata path pattern polygon polyline
    radialGradient rect stop style svg switch symbol text textPath title tspan use view
    """.split()  # noqa: SIM905 - words read best as words
)
_ATTRIBUTES: Final = frozenset(
    """
    accumulate alignment-baseline amplitude azimuth baseFrequency baseline-shift bias class clip clip-path
    clip-rule clipPathUnits color color-interpolation color-interpolation-filters color-rendering cx cy d
    diffuseConstant direction display divisor dominant-baseline dx dy edgeMode elevation exponent fill
    fill-opacity fill-rule filter filterUnits flood-color flood-opacity font-family font-size font-size-adjust
    font-stretch font-style font-variant font-weight fr fx fy gradientTransform gradientUnits height id
    image-rendering in in2 intercept isolation k1 k2 k3 k4 kernelMatrix kernelUnitLength lang lengthAdjust
    letter-spacing lighting-color limitingConeAngle marker-end marker-mid marker-start markerHeight markerUnits
    markerWidth mask mask-type maskContentUnits maskUnits media method mix-blend-mode mode numOctaves offset
    opacity operator order orient overflow paint-order pathLength patternContentUnits patternTransform
    patternUnits pointer-events points pointsAtX pointsAtY pointsAtZ preserveAlpha preserveAspectRatio
    primitiveUnits r radius refX refY requiredExtensions requiredFeatures result rotate rx ry scale seed
    shape-rendering side slope spacing specularConstant specularExponent spreadMethod startOffset stdDeviation
    stitchTiles stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset stroke-linecap
    stroke-linejoin stroke-miterlimit stroke-opacity stroke-width style surfaceScale systemLanguage tableValues
    targetX targetY text-anchor text-decoration text-rendering textLength transform transform-origin type
    unicode-bidi values vector-effect version viewBox visibility white-space width word-spacing writing-mode x
    x1 x2 xChannelSelector y y1 y2 yChannelSelector z zoomAndPan
    """.split()  # noqa: SIM905 - words read best as words
)
_FOREIGN: Final = {f"{_XML} space": "xml:space", f"{_XML} lang": "xml:lang", f"{_XLINK} title": "xlink:title"}
_HREFS: Final = {"href": "href", f"{_XLINK} href": "xlink:href"}
_PICTURE: Final = re.compile(r"data:image/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=\s]*", re.IGNORECASE)
_FRAGMENT: Final = re.compile(r"#[^\s]*")
# What style sheets can fetch or run: any function with an address that is no fragment, and escapes that hide one.
# Nothing here goes back over blanks or comments it has passed, or some megabytes of them would keep the host for hours.
_FETCHES: Final = re.compile(
    r"url\s*+\((?!\s*+['\"]?\s*+#)|@import|@charset|@namespace|@font-face|image-set|image\s*+\(|src\s*+[(:]|expression"
    r"|javascript|behavior|-moz-binding|\\|<",
    re.IGNORECASE,
)
_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)


class SvgError(ValueError):
    """A file is no SVG image that could be kept; the text says why."""


def sanitize(source: BinaryIO, target: BinaryIO) -> None:
    """Write an image anew, without what runs or fetches anything.

    Raises:
        SvgError: the source is no SVG image, or declares entities.

    """
    writer = _Writer(target)
    parser = writer.parser
    try:
        while chunk := source.read(_CHUNK):
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        reason = expat.errors.messages.get(error.code, "not well-formed")
        raise SvgError(f"The SVG image cannot be read: {reason}, in line {error.lineno}.") from None
    except (ValueError, LookupError) as error:
        if isinstance(error, SvgError):
            raise
        raise SvgError("The SVG image cannot be read: its encoding is not known; save it as UTF-8.") from None


class _Writer:
    """Writes what the parser tells."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self._depth = 0
        self._left_out = 0
        """Depth at which an element began that is left out with all that is in it; 0 for none."""
        self._style: list[str] | None = None
        self._style_length = 0
        self._open = False
        """The last tag may still turn out to be empty."""
        self.parser: Any = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._refuse_entities
        self.parser.ExternalEntityRefHandler = self._refuse_entities
        self.parser.SkippedEntityHandler = self._refuse_entities
        self.parser.StartDoctypeDeclHandler = self._doctype

    def _refuse_entities(self, *_: object) -> int:
        raise SvgError("The SVG image declares or uses entities of its own; save it without them, as plain SVG.")

    def _doctype(self, _name: str, _system: str | None, _public: str | None, has_subset: int) -> None:
        if has_subset:
            self._refuse_entities()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise SvgError(f"The SVG image is nested more than {_DEEPEST} levels deep; simplify it.")
        if self._left_out:
            return
        namespace, _, local = name.rpartition(" ")
        if self._depth == 1 and (local != "svg" or namespace not in {_SVG, ""}):
            raise SvgError("The file is no SVG image: its first element is not 'svg'.")
        if namespace not in {_SVG, ""} or local not in _ELEMENTS or self._style is not None:
            self._left_out = self._depth
            return
        if local == "style":
            self._style, self._style_length = [], 0
        self._close_tag()
        root = f' xmlns="{_SVG}" xmlns:xlink="{_XLINK}"' if self._depth == 1 else ""
        kept = "".join(_attributes(local, attributes))
        self._write(f"<{local}{root}{kept}")
        self._open = True

    def _end(self, name: str) -> None:
        if self._left_out:
            if self._left_out == self._depth:
                self._left_out = 0
            self._depth -= 1
            return
        if self._style is not None:
            style, self._style = "".join(self._style), None
            if style and not fetches(style):
                self._close_tag()
                self._write(escape(style))
        local = name.rpartition(" ")[2]
        self._write("/>" if self._open else f"</{local}>")
        self._open = False
        self._depth -= 1

    def _text(self, text: str) -> None:
        if self._left_out or not self._depth:
            return
        if self._style is not None:
            self._style.append(text)
            self._style_length += len(text)
            if self._style_length > _LONGEST_TEXT:
                raise SvgError("The SVG image has a style sheet that is too long; simplify it.")
            return
        self._close_tag()
        self._write(escape(text))

    def _close_tag(self) -> None:
        if self._open:
            self._write(">")
            self._open = False

    def _write(self, text: str) -> None:
        self._target.write(text.encode())


def _attributes(element: str, attributes: dict[str, str]) -> list[str]:
    kept: list[str] = []
    for name, value in attributes.items():
        shown = _FOREIGN.get(name) or (name if name in _ATTRIBUTES else None)
        if name in _HREFS:
            inside = _FRAGMENT.fullmatch(value.strip()) is not None
            shown = _HREFS[name] if inside or (element == "image" and _PICTURE.fullmatch(value.strip())) else None
        elif shown is not None and fetches(value):
            shown = None
        if shown is not None:
            kept.append(f" {shown}={quoteattr(value)}")
    return kept


def fetches(style: str) -> bool:
    """Tell whether a style could fetch or run something."""
    return _FETCHES.search(style) is not None or _FETCHES.search(_COMMENT.sub("", style)) is not None
