/** A `key: value` entry with its line numbers. */
export interface Property {
  /** Lower case; the exporter's name where the format has several. */
  readonly key: string
  /** The values, at least one. An empty value stands for a line with only a full stop. */
  readonly values: string[]
  /** The index of the line with the key. */
  readonly line: number
  /** The indices of the continuation lines, without comments between them. */
  readonly more: number[]
}

/** A collection or a game with its properties; `start` for the part before the first of either. */
export interface Block {
  readonly kind: 'start' | 'collection' | 'game'
  readonly properties: Property[]
}

const ALIASES: Readonly<Record<string, string>> = {
  files: 'file',
  developers: 'developer',
  publishers: 'publisher',
  genres: 'genre',
  tags: 'tag',
  command: 'launch',
  ...Object.fromEntries(['sort-title', 'sort-name', 'sortby', 'sorttitle', 'sortname', 'sort_by', 'sort_title', 'sort_name']
    .map((name) => [name, 'sort-by']))
}

const ASSET_ALIASES: Readonly<Record<string, string>> = {
  boxfront: 'box_front',
  boxart2d: 'box_front',
  boxback: 'box_back',
  boxfull: 'box_full',
  screenshots: 'screenshot',
  videos: 'video',
  wheel: 'logo',
  cart: 'cartridge',
  disc: 'cartridge',
  screenmarquee: 'bezel',
  border: 'bezel'
}

/**
 * Parses the lines of a metadata file. The format knows no errors: lines without a meaning belong to no property. The
 * rules: https://pegasus-frontend.org/docs/user-guide/meta-files/
 */
export function parseMetadata (lines: readonly string[]): Block[] {
  const blocks: Block[] = [{ kind: 'start', properties: [] }]
  for (const property of readProperties(lines)) {
    const { key } = property
    if (key === 'collection' || key === 'game') blocks.push({ kind: key, properties: [property] })
    else blocks.at(-1)?.properties.push(property)
  }
  return blocks
}

function readProperties (lines: readonly string[]): Property[] {
  const properties: Property[] = []
  let current: Property | null = null
  for (const [index, line] of lines.entries()) {
    const text = line.trim()
    if (line.startsWith('#')) continue
    if (text !== '' && /^\s/.test(line)) {
      current?.more.push(index)
      current?.values.push(text === '.' ? '' : text)
      continue
    }
    current = readProperty(text, index)
    if (current !== null) properties.push(current)
  }
  return properties.filter(({ values }) => values.length > 0)
}

/** Reads a property; null for a blank line and for one without `key: value`. */
function readProperty (text: string, line: number): Property | null {
  const colon = text.indexOf(':')
  if (colon < 1) return null
  const value = text.slice(colon + 1).trim()
  return { key: findKey(text.slice(0, colon).trim().toLowerCase()), values: value === '' ? [] : [value], line, more: [] }
}

function findKey (key: string): string {
  const asset = /^assets?\.(.+)$/.exec(key)?.[1]
  return asset === undefined ? ALIASES[key] ?? key : `assets.${ASSET_ALIASES[asset] ?? asset}`
}

/** Returns the index of the last line of a property. */
export function lastLine ({ line, more }: Property): number {
  return more.at(-1) ?? line
}
