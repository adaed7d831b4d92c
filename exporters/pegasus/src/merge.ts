import type { ExportGame } from '@svc/plugin-sdk'
import { type LineEdits, createLineEdits } from './edits.ts'
import { type Field, writeField } from './fields.ts'
import { isDeletedAsset } from './media.ts'
import { type Block, type Property, lastLine, parseMetadata } from './parse.ts'
import { normalizePath } from './path.ts'
import { decodeText } from './text.ts'

/** The wanted content of a ROM's game. */
export interface Entry extends Pick<ExportGame, 'path' | 'media_files'> {
  /** The folder of a game that starts from a file in it, because earlier exports named the folder. */
  readonly folder: string | null
  /** The path at which the last export wrote the game, if it had another one. */
  readonly former: string | null
  readonly fields: readonly Field[]
}

/** Writes a whole new file. */
export function writeMetadata (collection: readonly Field[], entries: readonly Entry[]): string {
  return [...collection.flatMap(writeField), ...entries.flatMap(writeGame), ''].join('\n')
}

/** Merges the entries into the text of a metadata file, line by line; lines of others stay unchanged. */
export function mergeMetadata (text: string, collection: readonly Field[], entries: readonly Entry[]): string {
  const edits = createLineEdits(text)
  const blocks = parseMetadata(edits.lines)
  const games = blocks.filter(({ kind }) => kind === 'game')
  const owners = findOwners(games)
  const byPath = indexEntries(entries, owners)
  const found = new Set<string>()
  for (const game of games) {
    const known = listFiles(game).filter((file) => owners.get(file) === game).flatMap((file) => byPath.get(file) ?? [])
    const [entry] = known
    if (entry === undefined) continue
    const moved = known.filter(({ path, former }) => owners.get(former ?? '') === game && !owners.has(path))
    for (const { path } of [entry, ...moved]) found.add(path)
    updateGame(edits, game, entry)
    renameFiles(edits, game, moved)
  }
  const ownCollection = findCollection(blocks, collection)
  if (ownCollection === undefined) insertCollection(edits, blocks, collection)
  else updateCollection(edits, ownCollection, collection)
  const added = entries.filter(({ path }) => !owners.has(path) && !found.has(path))
  edits.insertAfter(findEnd(edits.lines, blocks, ownCollection), added.flatMap(writeGame))
  return edits.apply()
}

function writeGame ({ fields }: Entry): string[] {
  return ['', ...fields.flatMap(writeField)]
}

/** Maps files to games; Pegasus assigns a file to the first game that names it. */
function findOwners (games: readonly Block[]): Map<string, Block> {
  const owners = new Map<string, Block>()
  for (const game of games) {
    for (const file of listFiles(game)) {
      if (!owners.has(file)) owners.set(file, game)
    }
  }
  return owners
}

/** Indexes entries by path. If no game names the path itself, the former path or the folder counts. */
function indexEntries (entries: readonly Entry[], owners: ReadonlyMap<string, Block>): Map<string, Entry> {
  const byOther = entries.filter(({ path }) => !owners.has(path)).flatMap((entry): [string, Entry][] => {
    const other = entry.former !== null && owners.has(entry.former) ? entry.former : entry.folder
    return other === null ? [] : [[other, entry]]
  })
  return new Map([...byOther, ...entries.map((entry): [string, Entry] => [entry.path, entry])])
}

function listFiles ({ properties }: Block): string[] {
  return properties.filter(({ key }) => key === 'file').flatMap(({ values }) => values)
    .map(normalizePath).filter((path) => path !== null)
}

/** Replaces a folder by the file that starts the game. A list of several files is the user's own. */
function replaceFolder (edits: LineEdits, formerValues: readonly Property[], field: Field, folder: string | null) {
  const [first] = formerValues.flatMap(({ values }) => values)
  const isFolder = folder !== null && first !== undefined && normalizePath(first) === folder
  if (isFolder && formerValues.length === 1 && formerValues[0]?.values.length === 1) {
    replaceProperties(edits, formerValues, field)
  }
}

/** Replaces the former paths of entries in a game, line by line, because its other files are the user's. */
function renameFiles (edits: LineEdits, { properties }: Block, moved: readonly Entry[]): void {
  if (moved.length === 0) return
  const paths = new Map(moved.map(({ path, former }) => [former, path]))
  for (const { line, more } of properties.filter(({ key }) => key === 'file')) {
    for (const index of [line, ...more]) {
      const [, head = '', file = ''] = /^(\s+|[^:]*:\s*)(.*)$/.exec((edits.lines[index] ?? '').trimEnd()) ?? []
      const path = paths.get(normalizePath(file))
      if (path !== undefined) edits.replace(index, [`${head}./${path}`])
    }
  }
}

function updateGame (edits: LineEdits, game: Block, entry: Entry) {
  const { folder, fields } = entry
  const missing: Field[] = []
  for (const field of fields) {
    const formerValues = game.properties.filter(({ key }) => key === field.key)
    if (formerValues.length === 0) missing.push(field)
    else if (field.key === 'tag') addTags(edits, formerValues, field)
    // The game was found by its files, and may have further files besides this ROM's.
    else if (field.key === 'file') replaceFolder(edits, formerValues, field, folder)
    else if (!isEqual(formerValues, field) && mayReplace(formerValues, field)) {
      replaceProperties(edits, formerValues, field)
    }
  }
  const writtenKeys = new Set(fields.map(({ key }) => key))
  game.properties
    .filter(({ key, values }) => !writtenKeys.has(key) &&
      values.every((value) => isDeletedAsset(key, value, entry)))
    .forEach((property) => { removeProperty(edits, property) })
  edits.insertAfter(findBlockEnd(game), missing.flatMap(writeField))
}

/** Adds missing tags. No tag is removed, because tags of the user and the server look the same. */
function addTags (edits: LineEdits, formerValues: readonly Property[], { key, values }: Field) {
  const knownTags = new Set(formerValues.flatMap((property) => property.values))
  const added = values.filter((value) => !knownTags.has(value))
  edits.insertAfter(Math.max(...formerValues.map(lastLine)), writeField({ key, values: added }))
}

function isEqual (formerValues: readonly Property[], { key, values }: Field): boolean {
  const before = formerValues.flatMap((property) => property.values)
  if (key === 'description') return decodeText(before) === decodeText(values)
  return before.length === values.length && before.every((value, index) => value === values[index])
}

function mayReplace ([first]: readonly Property[], { replaces }: Field): boolean {
  return replaces === undefined || first?.values[0] === replaces
}

function replaceProperties (edits: LineEdits, [first, ...repeats]: readonly Property[], field: Field) {
  if (first === undefined) return
  removeProperty(edits, first)
  edits.replace(first.line, writeField(field))
  for (const repeat of repeats) removeProperty(edits, repeat)
}

function removeProperty (edits: LineEdits, { line, more }: Property) {
  for (const index of [line, ...more]) edits.remove(index)
}

function findCollection (blocks: readonly Block[], fields: readonly Field[]): Block | undefined {
  const collections = blocks.filter(({ kind }) => kind === 'collection')
  const shortname = fields.find(({ key }) => key === 'shortname')?.values[0]
  return collections.find(({ properties }) =>
    properties.some(({ key, values }) => key === 'shortname' && values[0]?.toLowerCase() === shortname?.toLowerCase())) ?? collections[0]
}

/** Adds missing lines to a collection. Existing values stay, because other files may name the collection too. */
function updateCollection (edits: LineEdits, { properties }: Block, fields: readonly Field[]) {
  const missing = fields.filter(({ key }) => !properties.some((property) => property.key === key))
  const anchor = properties.find(({ key }) => key === 'shortname') ?? properties[0]
  if (anchor !== undefined) edits.insertAfter(lastLine(anchor), missing.flatMap(writeField))
}

/**
 * Inserts the collection before the first game, because games join the collections before them. Comments stay with
 * their game.
 */
function insertCollection (edits: LineEdits, blocks: readonly Block[], fields: readonly Field[]) {
  const lines = fields.flatMap(writeField)
  const first = blocks.find(({ kind }) => kind === 'game')?.properties[0]
  if (first === undefined) return edits.insertAfter(findTextEnd(edits.lines), ['', ...lines])
  let line = first.line
  while (edits.lines[line - 1]?.startsWith('#') === true) line--
  edits.insertAfter(line - 1, [...lines, ''])
}

/** Returns the line for new games: the end of our collection, so that they do not join a later one. */
function findEnd (lines: readonly string[], blocks: readonly Block[], collection: Block | undefined): number {
  const start = collection === undefined ? 0 : blocks.indexOf(collection)
  const next = blocks.findIndex(({ kind }, index) => index > start && kind === 'collection')
  const last = blocks.slice(0, next === -1 ? blocks.length : next).at(-1)
  return last === undefined || last.kind === 'start' ? findTextEnd(lines) : findBlockEnd(last)
}

function findBlockEnd ({ properties }: Block): number {
  return Math.max(...properties.map(lastLine))
}

function findTextEnd (lines: readonly string[]): number {
  return lines.findLastIndex((line) => line.trim() !== '')
}
