"""Draw a picture with Pillow. Only the subprocess imports it: image decoders are often attacked."""

import io

from PIL import Image, ImageOps

from roamtui.convert.drawing import PIXELS_MAX, Drawing, DrawingRequest, compute_viewport
from roamtui.errors import SourceError

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
"""The only formats that may be opened. Pillow decodes many others, and for EPS it runs Ghostscript."""
_COLOURS = 256
"""Number of colours of a packed picture. With so few, a photo takes 267 KB instead of 863 KB."""


def draw_picture(data: bytes, name: str, request: DrawingRequest) -> Drawing:
    """Draw a part of the first frame of a picture.

    Raises:
        SourceError: The picture has more pixels than can be decoded in a moment.
    """
    with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
        if image.width * image.height > PIXELS_MAX:
            millions = image.width * image.height // 1_000_000
            raise SourceError(f"{name} is too large to show: {millions} million pixels. Open it in a viewer.")
        picture: Image.Image = ImageOps.exif_transpose(image)
        if picture.mode.startswith("I"):  # grey values of 16 bits, which `convert` would make white
            picture = picture.convert("I").point(lambda value: value * (1 / 256))
        picture = picture.convert("RGBA")
    width, height = picture.size
    viewport = compute_viewport(request, width, height)
    size = (viewport.width, viewport.height)
    left, top, right, bottom = viewport.box
    box = (left * width, top * height, right * width, bottom * height)
    picture = picture.resize(size, Image.Resampling.LANCZOS, box=box, reducing_gap=2.0)
    canvas = Image.new("RGB", size, "white")
    canvas.paste(picture, mask=picture.getchannel("A"))
    content = canvas.tobytes()
    if request.is_packed:
        packed = io.BytesIO()
        canvas.quantize(_COLOURS).save(packed, "PNG", compress_level=3)
        content = packed.getvalue()
    return Drawing(data=content, viewport=viewport)
