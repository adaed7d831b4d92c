import { isDeepStrictEqual } from 'node:util'
import {
  type Document, type Node, Pair, Scalar, YAMLMap, type YAMLSeq, isMap, isNode, isScalar, isSeq, parseDocument, visit
} from 'yaml'
import { toStorable } from '../../core/database/json.ts'
import { type Change, type Content, UnchangeableError, isContent } from './content.ts'

const keyOf = ({ key }: Pair): string => String(isScalar(key) ? key.value ?? '' : key)
const findPair = (map: YAMLMap, key: string): Pair | undefined => map.items.find((pair) => keyOf(pair) === key)

/** Returns all comments in a part of the file. */
function commentsOf (part: Node | Pair): string[] {
  const comments: string[] = []
  visit(part as Node, (_key, node) => {
    if (!isNode(node)) return
    for (const comment of [node.commentBefore, node.comment]) if (typeof comment === 'string') comments.push(comment)
  })
  return comments
}

const join = (...comments: (string | null | undefined)[]) =>
  comments.filter((comment) => typeof comment === 'string').join('\n')

/** Moves the comments of removed parts to the rest of the collection. */
function moveComments (collection: YAMLMap | YAMLSeq, removedParts: readonly (Node | Pair)[]): void {
  const comments = removedParts.flatMap(commentsOf)
  if (comments.length > 0) collection.comment = join(collection.comment, ...comments)
}

/** Replaces a value and preserves its comments. */
function replace (pair: Pair, value: Scalar | YAMLMap | YAMLSeq): void {
  const comments = isNode(pair.value) ? commentsOf(pair.value) : []
  if (comments.length > 0) {
    if (isScalar(value)) value.comment = join(...comments)
    else value.commentBefore = join(...comments)
  }
  pair.value = value
}

function rootOf (document: Document): YAMLMap {
  if (isMap(document.contents)) return document.contents
  const root = new YAMLMap(document.schema)
  if (document.contents !== null) {
    const comments = commentsOf(document.contents)
    if (comments.length > 0) root.commentBefore = join(...comments)
  }
  document.contents = root
  return root
}

/** Returns the section of a key, and creates it if it is missing or empty. */
function openSection (document: Document, map: YAMLMap, key: string): YAMLMap {
  const pair = findPair(map, key)
  if (isMap(pair?.value)) return pair.value
  const created = new YAMLMap(document.schema)
  if (pair === undefined) map.add(new Pair(document.createNode(key), created))
  else replace(pair, created)
  return created
}

/** Sets the values of a list. Values that stay reuse their nodes, which preserves their comments. */
function setList (document: Document, list: YAMLSeq, values: readonly unknown[]): void {
  const rest = [...list.items] as Node[]
  list.items = values.map((value) => {
    const at = rest.findIndex((item) => isScalar(item) && item.value === value)
    return at === -1 ? document.createNode(value) : rest.splice(at, 1)[0]
  })
  moveComments(list, rest)
}

function setValue (document: Document, map: YAMLMap, key: string, value: unknown): void {
  const pair = findPair(map, key)
  if (pair === undefined) map.add(new Pair(document.createNode(key), document.createNode(value)))
  else if (Array.isArray(value) && isSeq(pair.value)) setList(document, pair.value, value)
  else replace(pair, typeof value === 'object' ? document.createNode(value) : new Scalar(value))
}

function removeKey (root: YAMLMap, path: readonly string[]): void {
  const map = path.slice(0, -1).reduce<YAMLMap | null>((at, key) => {
    const section = at === null ? undefined : findPair(at, key)?.value
    return isMap(section) ? section : null
  }, root)
  const pair = map === null ? undefined : findPair(map, path.at(-1) ?? '')
  if (map === null || pair === undefined) return
  map.items = map.items.filter((item) => item !== pair)
  moveComments(map, [pair])
}

function apply (document: Document, { path, value }: Change): void {
  const root = rootOf(document)
  if (value === undefined) {
    removeKey(root, path)
    return
  }
  const section = path.slice(0, -1).reduce((map, key) => openSection(document, map, key), root)
  setValue(document, section, path.at(-1) ?? '', value)
}

/** Returns the expected content after a change, independent of the text. */
function expect (content: Content, { path: [key = '', ...rest], value }: Change): Content {
  if (rest.length === 0) {
    const others = Object.entries(content).filter(([other]) => other !== key)
    return Object.fromEntries(value === undefined ? others : [...others, [key, value]])
  }
  const inner = content[key]
  if (value === undefined && !isContent(inner)) return content
  return { ...content, [key]: expect(isContent(inner) ? inner : {}, { path: rest, value }) }
}

/** Returns plain content for comparison. Values that several keys share by an alias occur several times. */
const readContent = (document: Document): Content =>
  (JSON.parse(JSON.stringify(document.toJS() ?? {})) ?? {}) as Content

function parse (text: string): Document.Parsed {
  const document = parseDocument(text)
  const [problem] = document.errors
  if (problem !== undefined) throw new UnchangeableError(`it is not valid YAML: ${problem.message.split('\n')[0] ?? ''}`)
  return document
}

/** @throws UnchangeableError if the text is not YAML */
export function readText (text: string): Content {
  try {
    return readContent(parse(text))
  } catch (err) {
    throw err instanceof UnchangeableError ? err : new UnchangeableError((err as Error).message, { cause: err })
  }
}

/**
 * Returns the text of a file with changes. All other keys and comments are preserved.
 *
 * @throws UnchangeableError if that is impossible, such as if another key shares the value by an alias
 */
export function changeText (text: string, givenChanges: readonly Change[]): string {
  // A name with half a surrogate pair could never be removed, because no address can contain it.
  const changes = toStorable(givenChanges)
  const expected = changes.reduce(expect, readText(text))
  const document = parse(text)
  let changed: string
  try {
    for (const change of changes) apply(document, change)
    changed = document.toString({ lineWidth: 0 })
  } catch (err) {
    throw new UnchangeableError((err as Error).message, { cause: err })
  }
  if (isDeepStrictEqual(readText(changed), expected)) return changed
  throw new UnchangeableError('the change would also affect other settings, because of anchors (&) and aliases (*)')
}
