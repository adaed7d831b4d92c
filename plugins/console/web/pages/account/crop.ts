/** The shown part of a picture: the zoom, and its middle from 0 to 1 in both directions. */
export interface View { readonly zoom: number, readonly x: number, readonly y: number }
export interface Size { readonly width: number, readonly height: number }

export const ZOOM_MAX = 4
export const WHOLE: View = { zoom: 1, x: 0.5, y: 0.5 }

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high)

/** Returns the square of a picture that a view shows, in pixels of the picture. */
export function squareOf ({ width, height }: Size, { zoom, x, y }: View) {
  const side = Math.min(width, height) / zoom
  const left = clamp(x * width - side / 2, 0, width - side)
  return { side, left, top: clamp(y * height - side / 2, 0, height - side) }
}

/** Returns a view that lies within the picture, after it was zoomed or moved. */
export function limit (size: Size, view: View): View {
  const zoom = clamp(view.zoom, 1, ZOOM_MAX)
  const { left, top, side } = squareOf(size, { ...view, zoom })
  return { zoom, x: (left + side / 2) / size.width, y: (top + side / 2) / size.height }
}

/** Moves a view by parts of the shown square. */
export function move (size: Size, view: View, right: number, down: number): View {
  const { side } = squareOf(size, view)
  return limit(size, { ...view, x: view.x + right * side / size.width, y: view.y + down * side / size.height })
}
