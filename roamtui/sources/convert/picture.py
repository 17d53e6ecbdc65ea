"""Draw a picture with Pillow. Only the subprocess imports it, because image decoders are a common target of attacks."""

from __future__ import annotations

import io

from PIL import Image, ImageOps

from roamtui.errors import SourceError
from roamtui.sources.convert.drawing import PIXELS_MAX, Drawing, DrawingRequest, compute_viewport

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
"""The only formats that may be opened. Pillow decodes many others, and for EPS it runs Ghostscript."""
_COLOURS = 256
"""Number of colours of a packed picture. With so few, a photo takes 267 KB instead of 863 KB, and a chart 26 KB."""
_ROTATED_FROM = 5
"""EXIF orientations from this number on swap width and height."""
_ORIENTATION_TAG = 0x0112


def draw_picture(data: bytes, name: str, request: DrawingRequest) -> Drawing:
    """Draw a part of the first frame of a picture.

    Raises:
        SourceError: The picture has more pixels than can be decoded in a moment.
    """
    with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
        width, height = image.size
        if width * height > PIXELS_MAX:
            raise SourceError(f"{name} has {width * height // 1_000_000} million pixels. Open it in its own program.")
        is_turned = image.getexif().get(_ORIENTATION_TAG, 1) >= _ROTATED_FROM
        if is_turned and not request.is_stretched:
            width, height = height, width
        viewport = compute_viewport(request, width, height)
        size, (left, top, right, bottom) = (viewport.width, viewport.height), viewport.box
        if image.format == "JPEG" and not is_turned:  # decodes at 1/2, 1/4 or 1/8 of the size if that is enough
            image.draft("RGB", (round(size[0] / (right - left)), round(size[1] / (bottom - top))))
        picture: Image.Image = ImageOps.exif_transpose(image)
        if picture.mode.startswith("I"):  # grey values of 16 bits, which `convert` would make white
            picture = picture.convert("I").point(lambda value: value * (1 / 256))
        picture = picture.convert("RGBA")
        box = (left * picture.width, top * picture.height, right * picture.width, bottom * picture.height)
        if is_turned and request.is_stretched:
            picture = ImageOps.pad(picture, size)  # `width` x `height` was measured without the orientation
        else:
            picture = picture.resize(size, Image.Resampling.LANCZOS, box=box, reducing_gap=2.0)
    canvas = Image.new("RGB", size, "white")
    canvas.paste(picture, mask=picture.getchannel("A"))
    content = canvas.tobytes()
    if request.is_packed:
        packed = io.BytesIO()
        canvas.quantize(_COLOURS).save(packed, "PNG", compress_level=3)
        content = packed.getvalue()
    return Drawing(data=content, viewport=viewport, full_width=width, full_height=height)
