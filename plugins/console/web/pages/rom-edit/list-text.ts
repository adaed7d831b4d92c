/** A value in quotation marks, in which they are doubled, or one up to the next comma. */
const VALUE = /\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(?:,|$)/gy

/** Writes values as one text with commas. A value with a comma or a quotation mark stands in quotation marks. */
export const joinList = (values: readonly string[]): string =>
  values.map((value) => /[",]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value).join(', ')

/** Reads the values of such a text, without empty ones. */
export const splitList = (text: string): string[] =>
  [...text.matchAll(VALUE)].map(([, quoted, plain = '']) => (quoted?.replaceAll('""', '"') ?? plain).trim()).filter(Boolean)
