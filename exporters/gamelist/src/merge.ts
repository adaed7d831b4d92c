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
  /** The path at which the last export wrote the game, if it had another one. */
  readonly former: string | null
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
  const wanted = new Set(entries.map(({ path }) => path))
  const games = list.children.filter(({ name }) => name === 'game').map((game) =>
    ({ game, path: readPath(game.children.find(({ name }) => name === 'path')?.text ?? '', wanted) }))
  const existingPaths = new Set(games.map(({ path }) => path))
  const byPath = indexEntries(entries, existingPaths)
  const formerGames = findFormerGames(games, entries, existingPaths)
  const found = new Set<string>()
  const edits: Edit[] = []
  for (const { game, path } of games) {
    const entry = path === null ? undefined : byPath.get(path)
    if (entry === undefined) continue
    const formers = found.has(entry.path) ? [] : formerGames.get(entry.path) ?? []
    found.add(entry.path)
    edits.push(...updateGame(text, game, entry, formers))
  }
  edits.push(...[...formerGames.values()].flat().map((game) => removeElement(text, game)))
  const added = entries.filter(({ path }) => !found.has(path))
  if (added.length > 0) edits.push(appendGames(text, list, added))
  return applyEdits(text, edits)
}

/** Reads the path of a game. A backslash of Windows separates folders, unless a ROM has a backslash in its name. */
function readPath (text: string, wanted: ReadonlySet<string>): string | null {
  const path = normalizePath(text)
  if (!text.includes('\\') || (path !== null && wanted.has(path))) return path
  const slashed = normalizePath(text.replaceAll('\\', '/'))
  return slashed !== null && wanted.has(slashed) ? slashed : path
}

/** Indexes entries by path. If the file has no game with the path itself, its former path or its folder counts. */
function indexEntries (entries: readonly Entry[], existingPaths: ReadonlySet<string | null>): Map<string, Entry> {
  const byOther = entries.filter(({ path }) => !existingPaths.has(path)).flatMap((entry): [string, Entry][] => {
    const other = entry.former !== null && existingPaths.has(entry.former) ? entry.former : entry.folder
    return other === null ? [] : [[other, entry]]
  })
  return new Map([...byOther, ...entries.map((entry): [string, Entry] => [entry.path, entry])])
}

/**
 * Finds the games that have the former path of an entry beside a game with its path, as after a start of a renamed file
 * in a frontend. The result is by the path of the entry.
 */
function findFormerGames (
  games: readonly { game: ElementSpan, path: string | null }[], entries: readonly Entry[],
  existingPaths: ReadonlySet<string | null>
): Map<string, ElementSpan[]> {
  const paths = new Map(entries.filter(({ path, former }) => former !== null && existingPaths.has(path))
    .map(({ path, former }) => [former, path]))
  const formerGames = new Map<string, ElementSpan[]>()
  for (const { game, path: former } of games) {
    const path = former === null ? undefined : paths.get(former)
    if (path !== undefined) formerGames.set(path, [...formerGames.get(path) ?? [], game])
  }
  return formerGames
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

/**
 * Updates texts and appends missing elements; the first of several elements with one name stays.
 *
 * @param formers games that this one replaces; it takes their elements that it lacks
 */
function updateGame (text: string, game: ElementSpan, entry: Entry, formers: readonly ElementSpan[]): Edit[] {
  const { fields } = entry
  const edits: Edit[] = []
  const missing: string[] = []
  for (const field of fields) {
    const [first, ...repeats] = game.children.filter(({ name }) => name === field.name)
    if (first === undefined) missing.push(writeField(field))
    else if (!hasText(first, field) && mayReplace(first, field)) edits.push(replaceText(text, first, field.value))
    edits.push(...repeats.map((repeat) => removeElement(text, repeat)))
  }
  const writtenNames = new Set(fields.map(({ name }) => name))
  const stale = game.children.filter(({ name, text: value }) =>
    !writtenNames.has(name) && isDeletedElement(name, value, entry))
  edits.push(...stale.map((child) => removeElement(text, child)))
  const known = new Set([...writtenNames, ...game.children.map(({ name }) => name)])
  const taken = formers.flatMap(({ children }) => children).filter(({ name }) => !known.has(name))
  missing.push(...taken.map(({ start, end }) => text.slice(start, end)))
  if (missing.length > 0) edits.push(appendElements(text, game, missing))
  return edits
}

/** True if an element has the wanted text. A text with several genres stays if the first one is the wanted genre. */
function hasText ({ name, text, children }: ElementSpan, { value }: Field): boolean {
  if (children.length > 0) return false
  return text === value || (name === 'genre' && text.startsWith(value) && /^\s*[-,/;|]/.test(text.slice(value.length)))
}

function mayReplace ({ text }: ElementSpan, { replaces }: Field): boolean {
  return replaces === undefined || text.trim() === '' || text === replaces
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

/** Appends elements after the last child, indented like the first; on the same line if the entry is on one line. */
function appendElements (text: string, game: ElementSpan, elements: readonly string[]): Edit {
  const [first] = game.children
  const space = first === undefined ? '' : findLineSpace(text, first.start)
  const at = findContentEnd(text, game)
  return { start: at, end: at, text: elements.map((element) => space + element).join('') }
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
