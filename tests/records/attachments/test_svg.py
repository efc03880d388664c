"""SVG images lose what runs and what fetches."""

from __future__ import annotations

import time
from io import BytesIO

import pytest

from host.records.attachments.svg import SvgError, fetches, sanitize

ROOT = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'


def sanitized(text: str | bytes) -> str:
    source = BytesIO(text if isinstance(text, bytes) else text.encode())
    target = BytesIO()
    sanitize(source, target)
    return target.getvalue().decode()


@pytest.mark.parametrize(
    ("inside", "kept"),
    [
        pytest.param("<script>alert(1)</script><rect/>", "<rect/>", id="scripts"),
        pytest.param('<x:script xmlns:x="http://www.w3.org/2000/svg">1</x:script>', "", id="scripts by another prefix"),
        pytest.param('<rect onclick="x()" ONLOAD="x()" width="1"/>', '<rect width="1"/>', id="event attributes"),
        pytest.param("<foreignObject><div>1</div></foreignObject>", "", id="foreign objects"),
        pytest.param('<h:p xmlns:h="http://www.w3.org/1999/xhtml">1</h:p>', "", id="other vocabularies"),
        pytest.param('<use href="http://x/#a"/><use xlink:href=" //x#a"/>', "<use/><use/>", id="images elsewhere"),
        pytest.param('<use xlink:href="#a"/>', '<use xlink:href="#a"/>', id="fragments stay"),
        pytest.param('<a href="java&#10;script:x()">t</a>', "<a>t</a>", id="addresses that run"),
        pytest.param('<image href="data:image/svg+xml;base64,AA=="/>', "<image/>", id="images that could run"),
        pytest.param(
            '<image href="data:image/png;base64,AA=="/>',
            '<image href="data:image/png;base64,AA=="/>',
            id="pictures stay",
        ),
        pytest.param('<g><set attributeName="href" to="javascript:x()"/></g>', "<g/>", id="animations"),
        pytest.param(
            '<rect fill="url(http://x)" stroke="url(#a)"/>', '<rect stroke="url(#a)"/>', id="addresses in attributes"
        ),
        pytest.param('<rect style="fill:u\\72l(http://x)"/>', "<rect/>", id="escapes in styles"),
        pytest.param(
            "<style>@import 'x'</style><style>a{b:url( //x)}</style>", "<style/><style/>", id="styles that fetch"
        ),
        pytest.param(
            "<style><![CDATA[.a>.b{fill:red}]]></style>", "<style>.a&gt;.b{fill:red}</style>", id="styles stay"
        ),
        pytest.param("<style>a{}<g>b</g></style>", "<style>a{}</style>", id="elements in styles"),
        pytest.param(
            '<text class="&quot;&apos;>">a &lt; b</text>',
            '<text class="&quot;\'&gt;">a &lt; b</text>',
            id="text stays text",
        ),
        pytest.param("<!-- 1 --><?xml-stylesheet href='x'?>", "", id="comments and instructions"),
    ],
)
def test_only_what_draws_is_kept(inside, kept):
    """Whatever is not on the list goes, with all that is in it; the rest stays as it was."""
    found = sanitized(f"{ROOT}>{inside}</svg>")

    assert found == (f"{ROOT}>{kept}</svg>" if kept else f"{ROOT}/>")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param('<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>', "entities", id="entities"),
        pytest.param('<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg/>', "entities", id="outer entities"),
        pytest.param('<!DOCTYPE svg SYSTEM "http://x"><svg>&a;</svg>', "entities", id="entities from elsewhere"),
        pytest.param("<html/>", "no SVG", id="another document"),
        pytest.param('<svg xmlns="urn:x"/>', "no SVG", id="another vocabulary"),
        pytest.param("<svg", "line 1", id="broken"),
        pytest.param("", "no element", id="empty"),
        pytest.param("<svg>" + "<g>" * 300, "levels deep", id="nested too deeply"),
        pytest.param('<?xml version="1.0" encoding="klingon"?><svg/>', "encoding", id="unknown encoding"),
        pytest.param('<?xml version="1.0" encoding="rot13"?><svg/>', "encoding", id="no encoding of text"),
        pytest.param(f"<svg><style>{'a' * 1_100_000}</style></svg>", "style sheet", id="endless style"),
    ],
)
def test_what_cannot_be_made_safe_is_refused(text, reason):
    """The reason says what is wrong."""
    with pytest.raises(SvgError, match=reason):
        sanitized(text)


@pytest.mark.parametrize(
    "style",
    [
        pytest.param("url(" + " " * 200_000, id="blanks without an address"),
        pytest.param("/* " * 70_000, id="comments without an end"),
    ],
)
def test_styles_are_judged_in_one_pass(style):
    """A style that makes a search go back again and again would keep the whole host busy for hours."""
    began = time.process_time()
    fetches(style)

    assert time.process_time() - began < 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_images_in_other_encodings_are_kept_as_utf_8(encoding):
    """No encoding hides a script."""
    text = f'<?xml version="1.0" encoding="{encoding}"?><svg><script>é</script><title>é</title></svg>'

    assert sanitized(text.encode(encoding)) == f"{ROOT}><title>é</title></svg>"


def test_a_doctype_without_declarations_is_dropped():
    """Drawing programs write one into every image."""
    doctype = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'

    assert sanitized(f"{doctype}<svg/>") == f"{ROOT}/>"
