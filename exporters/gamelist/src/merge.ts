import type { ExportGame } from '@svc/plugin-sdk'
import type { Field } from './fields.ts'
import { type Layout, findContentEnd, findLayout, findLineEnd, findLineSpace } from './layout.ts'
import { isDeletedElement } from './media.ts'
import { type ElementSpan, parseGamelist } from './parse.ts'
import { normalizePath } from './path.ts'
import { escapeText } from './text.ts'

/** The wanted content of a ROM's `game` element. */
export interface Entry extends Pick<ExportGame, 'path' | 'media_files'> {
  /** The folder of a game that starts from a file in it, because earlier exports named the folder. */
  readonly folder: string | null
  readonly fields: readonly Field[]
}

interface Edit { readonly start: number, readonly end: number, readonly text: string }

/**
 * Merges the entries into the text of a gamelist.xml. The text is edited in place, so all content of others keeps its
 * bytes: order, spacing, comments, attributes and nested elements.
 *
 * @throws Error when the text is no gamelist.xml.
 */
export function mergeGamelist (text: string, entries: readonly Entry[]): string {
  const roots = parseGamelist(text)
  const list = roots.find(({ name }) => name === 'gameList')
  if (list === undefined) return appendList(text, roots, entries)
  const games = list.children.filter(({ name }) => name === 'game').map((game) =>
    ({ game, path: normalizePath(game.children.find(({ name }) => name === 'path')?.text ?? '') }))
  const byPath = indexEntries(entries, new Set(games.map(({ path }) => path)))
  const found = new Set<string>()
  const edits: Edit[] = []
  for (const { game, path } of games) {
    const entry = path === null ? undefined : byPath.get(path)
    if (entry === undefined) continue
    found.add(entry.path)
    edits.push(...updateGame(text, game, entry))
  }
  const added = entries.filter(({ path }) => !found.has(path))
  if (added.length > 0) edits.push(appendGames(text, list, added))
  return applyEdits(text, edits)
}

/** Indexes entries by path, and by folder if the file has no game with the path itself. */
function indexEntries (entries: readonly Entry[], existingPaths: ReadonlySet<string | null>): Map<string, Entry> {
  const byFolder = entries.filter(({ path, folder }) => folder !== null && !existingPaths.has(path))
    .map((entry): [string, Entry] => [entry.folder ?? '', entry])
  return new Map([...byFolder, ...entries.map((entry): [string, Entry] => [entry.path, entry])])
}

/** Writes a whole new file. */
export function writeGamelist (entries: readonly Entry[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeList(entries, '\n')}\n`
}

function writeList (entries: readonly Entry[], eol: string): string {
  const games = entries.map((entry) => writeGame(entry, { eol, game: '  ', field: '    ' }))
  return `<gameList>${games.join('')}${eol}</gameList>`
}

/** Appends a list. A file without `gameList` may only hold the elements that ES-DE puts before it. */
function appendList (text: string, roots: readonly ElementSpan[], entries: readonly Entry[]): string {
  const unknownRoot = roots.find(({ name }) => name !== 'alternativeEmulator')
  if (unknownRoot !== undefined) {
    throw new Error(`gamelist.xml contains "${unknownRoot.name}" but no "gameList". ` +
      'Move the file away to have a new one written.')
  }
  const eol = findLineEnd(text)
  return `${text.trimEnd()}${eol}${writeList(entries, eol)}${eol}`
}

/** Updates texts and appends missing elements; the first of several elements with one name stays. */
function updateGame (text: string, game: ElementSpan, entry: Entry): Edit[] {
  const { fields } = entry
  const edits: Edit[] = []
  const missing: Field[] = []
  for (const field of fields) {
    const [first, ...repeats] = game.children.filter(({ name }) => name === field.name)
    if (first === undefined) missing.push(field)
    else if (!hasText(first, field)) edits.push(replaceText(text, first, field.value))
    edits.push(...repeats.map((repeat) => removeElement(text, repeat)))
  }
  const writtenNames = new Set(fields.map(({ name }) => name))
  const stale = game.children.filter(({ name, text: value }) =>
    !writtenNames.has(name) && isDeletedElement(name, value, entry))
  edits.push(...stale.map((child) => removeElement(text, child)))
  if (missing.length > 0) edits.push(appendFields(text, game, missing))
  return edits
}

/** True if an element has the wanted text. A text with several genres stays if the first one is the wanted genre. */
function hasText ({ name, text, children }: ElementSpan, { value }: Field): boolean {
  if (children.length > 0) return false
  return text === value || (name === 'genre' && text.startsWith(value) && /^\s*[-,/;|]/.test(text.slice(value.length)))
}

function replaceText (text: string, element: ElementSpan, value: string): Edit {
  if (!element.selfClosing) {
    return { start: element.contentStart, end: element.contentEnd, text: escapeText(value) }
  }
  const tag = text.slice(element.start, element.end).replace(/\s*\/>$/, '')
  return { start: element.start, end: element.end, text: `${tag}>${escapeText(value)}</${element.name}>` }
}

/** Removes an element, with its line if nothing else is on it. */
function removeElement (text: string, element: ElementSpan): Edit {
  return { start: element.start - findLineSpace(text, element.start).length, end: element.end, text: '' }
}

/** Appends fields after the last child, indented like the first; on the same line if the entry is on one line. */
function appendFields (text: string, game: ElementSpan, fields: readonly Field[]): Edit {
  const [first] = game.children
  const space = first === undefined ? '' : findLineSpace(text, first.start)
  const at = findContentEnd(text, game)
  return { start: at, end: at, text: fields.map((field) => space + writeField(field)).join('') }
}

function appendGames (text: string, list: ElementSpan, entries: readonly Entry[]): Edit {
  const layout = findLayout(text, list)
  const games = entries.map((entry) => writeGame(entry, layout)).join('')
  if (list.selfClosing) {
    const tag = text.slice(list.start, list.end).replace(/\s*\/>$/, '')
    return { start: list.start, end: list.end, text: `${tag}>${games}${layout.eol}</gameList>` }
  }
  const at = findContentEnd(text, list)
  const isClosedOnOwnLine = text.slice(at, list.contentEnd).includes('\n')
  return { start: at, end: at, text: isClosedOnOwnLine ? games : games + layout.eol }
}

function writeGame ({ fields }: Entry, { eol, game, field }: Layout): string {
  const lines = fields.map((value) => `${eol}${field}${writeField(value)}`).join('')
  return `${eol}${game}<game>${lines}${eol}${game}</game>`
}

function writeField ({ name, value }: Field): string {
  return `<${name}>${escapeText(value)}</${name}>`
}

function applyEdits (text: string, edits: readonly Edit[]): string {
  let result = ''
  let copied = 0
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(copied, edit.start) + edit.text
    copied = edit.end
  }
  return result + text.slice(copied)
}
