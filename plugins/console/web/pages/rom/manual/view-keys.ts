/** What a key or button of the viewer does. */
export type ViewKey = 'next' | 'previous' | 'first' | 'last' | 'larger' | 'smaller'

const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3]

/** Returns the page to show after a key; null for a key that shows no other page. */
export function pageAfter (key: ViewKey, current: number, pages: number): number | null {
  if (key === 'next') return Math.min(current + 1, pages)
  if (key === 'previous') return Math.max(current - 1, 1)
  if (key === 'first') return 1
  return key === 'last' ? pages : null
}

/** Returns the width of pages after a key, as a share of the whole width. */
export function widthAfter (key: ViewKey, zoom: number): number {
  if (key === 'larger') return ZOOMS.find((one) => one > zoom) ?? zoom
  return key === 'smaller' ? ZOOMS.findLast((one) => one < zoom) ?? zoom : zoom
}
