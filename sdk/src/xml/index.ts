import { createRequire } from 'node:module'
import type * as Saxes from 'saxes'

const require = createRequire(import.meta.url)

// Syntax and allowed characters: Extensible Markup Language (XML) 1.0, fifth edition, https://www.w3.org/TR/xml/.

/** An element with its attributes and children; names are as written, prefix included. */
export interface XmlElement {
  readonly type: 'element'
  name: string
  /** Attributes in document order. */
  attributes: Record<string, string>
  /** Children in document order. White space between elements is dropped; beside other text it is kept. */
  children: XmlNode[]
}
/** The text between tags, unescaped. `cdata` is true for a CDATA section, which `renderXml` writes as one. */
export interface XmlText { readonly type: 'text', text: string, cdata?: boolean }
/** A comment, without `<!--` and `-->`. */
export interface XmlComment { readonly type: 'comment', text: string }
/** A processing instruction: `<?name text?>`. */
export interface XmlInstruction { readonly type: 'instruction', name: string, text: string }
/** Everything that an element can contain. */
export type XmlNode = XmlElement | XmlText | XmlComment | XmlInstruction

/** Options of the parsers. A text over a limit is an {@link XmlError}. */
export interface XmlOptions {
  /** The name of the text in error messages, such as a path. */
  source?: string
  /** Maximum size in bytes of UTF-8; default 64 MiB. */
  maxBytes?: number
  /** Maximum nesting depth of elements; default 32. */
  maxDepth?: number
  /** Maximum characters of text in one element, and of one attribute or comment; default 1 MiB. */
  maxText?: number
  /** Maximum number of elements, texts and comments in memory; default 3,000,000. */
  maxNodes?: number
}

/** An error for text that is not XML or not accepted. The message states the line, the problem and the remedy. */
export class XmlError extends Error {
  override readonly name = 'XmlError'
  /** The line, counted from 1; null if the error has no single position. */
  readonly line: number | null

  constructor (message: string, line: number | null = null, options?: ErrorOptions) {
    super(message, options)
    this.line = line
  }
}

const DECLARATION = /^\uFEFF?<\?xml\s[^>]*?\?>/
const MAX_DECLARATION = 1000
const BLANK = /^[ \t\r\n]*$/
const NAME_START = ':A-Z_a-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C-\\u200D' +
  '\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\u{10000}-\\u{EFFFF}'
const NAME = new RegExp(`^[${NAME_START}][\\u0300-\\u036F${NAME_START}\\-.0-9\\u00B7\\u203F-\\u2040]*$`, 'u')
// Production 2, Char: a document must not contain these characters or references to them.
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\0-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF]|\p{Cs}/gu

/**
 * Returns the elements of an XML text. Several elements at the top are accepted, because frontends write them; an
 * empty text has none. A document type and all entities except the five of XML itself are refused, so nothing is
 * expanded or fetched.
 *
 * @throws XmlError for text that is not well-formed or is over a limit.
 * @example parseXml('<game id="7"><name>Chrono Harbor</name></game>')[0]?.attributes.id // '7'
 */
export function parseXml (text: string, options?: XmlOptions): XmlElement[]
export function parseXml (chunks: AsyncIterable<string>, options?: XmlOptions): Promise<XmlElement[]>
export function parseXml (
  source: string | AsyncIterable<string>, options: XmlOptions = {}
): XmlElement[] | Promise<XmlElement[]> {
  if (typeof source === 'string') return parseXmlFragment(source, options).filter(isElement)
  return parseChunks(source, options)
}

/**
 * Parses like {@link parseXml}, but also returns the comments and instructions at the top, for a writer that keeps
 * them. The XML declaration is dropped.
 *
 * @throws XmlError
 */
export function parseXmlFragment (text: string, options: XmlOptions = {}): XmlNode[] {
  const reader = createReader(options)
  reader.write(text)
  return reader.close()
}

/**
 * Yields every element directly below the root as soon as it is parsed, for files that do not fit into memory. With
 * `maxBytes` raised, memory holds one record at a time. Bytes are UTF-8, as `ctx.http.unzip` and `ctx.files` yield
 * them.
 *
 * @throws XmlError
 */
export async function * readXmlRecords (
  chunks: AsyncIterable<string | Uint8Array>, options: XmlOptions = {}
): AsyncGenerator<XmlElement> {
  const records: XmlElement[] = []
  const reader = createReader(options, (record) => { records.push(record) })
  const decoder = new TextDecoder()
  for await (const chunk of chunks) {
    reader.write(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))
    yield * records.splice(0)
  }
  reader.close()
  yield * records
}

/** Returns the text directly in an element, trimmed; empty when there is none. */
export function xmlText (element: XmlElement): string {
  return element.children.map((child) => child.type === 'text' ? child.text : '').join('').trim()
}

/** Returns the elements directly in an element, optionally only those with one name. */
export function xmlChildren (element: XmlElement, name?: string): XmlElement[] {
  return element.children.filter(isElement).filter((child) => name === undefined || child.name === name)
}

/** Builds an element for output. Pass the text unescaped. */
export function createXmlElement (
  name: string, content: string | XmlNode[] = [], attributes: Record<string, string> = {}
): XmlElement {
  const children: XmlNode[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return { type: 'element', name, attributes, children }
}

/**
 * Writes nodes as XML, ending with a line feed. An element without text of its own has each child on its own line.
 * Escapes special characters, strips characters that XML 1.0 forbids, and turns CR and CRLF into LF.
 *
 * @throws XmlError for a name that XML does not allow.
 */
export function renderXml (
  nodes: XmlNode | readonly XmlNode[], { indent = '  ', declaration = false }: { indent?: string, declaration?: boolean } = {}
): string {
  const list = isNodeList(nodes) ? nodes : [nodes]
  const lines = declaration ? ['<?xml version="1.0" encoding="UTF-8"?>'] : []
  for (const node of list) lines.push(renderNode(node, indent, 0))
  return lines.map((line) => `${line}\n`).join('')
}

function isNodeList (nodes: XmlNode | readonly XmlNode[]): nodes is readonly XmlNode[] {
  return Array.isArray(nodes)
}

function isElement (node: XmlNode): node is XmlElement {
  return node.type === 'element'
}

function isBlank (node: XmlNode): boolean {
  return node.type === 'text' && node.cdata !== true && BLANK.test(node.text)
}

async function parseChunks (chunks: AsyncIterable<string>, options: XmlOptions): Promise<XmlElement[]> {
  const reader = createReader(options)
  for await (const chunk of chunks) reader.write(chunk)
  return reader.close().filter(isElement)
}

interface Reader {
  write (chunk: string): void
  close (): XmlNode[]
}

/** @param onRecord receives the elements of depth 2, which are then not added to their parent */
function createReader (options: XmlOptions, onRecord?: (record: XmlElement) => void): Reader {
  const { source = 'the XML text', maxBytes = 64 * 1024 * 1024 } = options
  // Saxes loads with the first document, because most processes of a server parse none.
  const { SaxesParser } = require('saxes') as typeof Saxes
  const parser = new SaxesParser<ParserOptions>({ fragment: true, xmlns: false })
  const refuse = (problem: string, remedy: string, cause?: unknown): never => {
    const { line } = parser
    throw new XmlError(`${source}, line ${line}: ${problem}; ${remedy}`, line, { cause })
  }
  const top = buildTree(parser, options, refuse, onRecord)
  let head: string | null = ''
  let bytes = 0

  // Saxes accepts no declaration in a fragment, so the declaration is cut off. Its line feeds stay for the line
  // numbers.
  function cutDeclaration (text: string): string {
    return text.replace(DECLARATION, (declaration) => declaration.replace(/[^\n]/g, '')).replace(/^\uFEFF/, '')
  }
  function parse (step: () => void) {
    try {
      step()
    } catch (err) {
      if (err instanceof XmlError || !(err instanceof Error)) throw err
      const problem = err.message.replace(/^\d+:\d+: /, '').replace(/\.$/, '')
      if (problem.includes('doctype')) refuse('a DOCTYPE is not accepted', 'remove it')
      refuse(`not well-formed, ${problem}`, 'correct it by hand or restore an earlier copy', err)
    }
  }
  return {
    write (chunk) {
      bytes += Buffer.byteLength(chunk)
      if (bytes > maxBytes) refuse(`larger than ${maxBytes} bytes`, 'split it or remove it')
      if (head === null) return parse(() => { parser.write(chunk) })
      head += chunk
      if (!head.includes('?>') && head.length < MAX_DECLARATION) return
      const text = cutDeclaration(head)
      head = null
      parse(() => { parser.write(text) })
    },
    close () {
      const rest = head === null ? '' : cutDeclaration(head)
      head = null
      parse(() => { parser.write(rest).close() })
      return top
    }
  }
}

type ParserOptions = { fragment: true, xmlns: false }
type Refuse = (problem: string, remedy: string) => never

function buildTree (
  parser: Saxes.SaxesParser<ParserOptions>, options: XmlOptions, refuse: Refuse, onRecord?: (record: XmlElement) => void
): XmlNode[] {
  const { maxDepth = 32, maxText = 1024 * 1024, maxNodes = 3_000_000 } = options
  const top: XmlNode[] = []
  const open: { element: XmlElement, text: number }[] = []
  let nodes = 0

  function checkText (length: number, what: string) {
    if (length > maxText) refuse(`${what} has more than ${maxText} characters`, 'shorten it')
  }
  function add (node: XmlNode) {
    if (++nodes > maxNodes) refuse(`more than ${maxNodes} elements and texts`, 'split the file')
    const parent = open.at(-1)
    if (parent === undefined) top.push(node)
    else parent.element.children.push(node)
  }
  function addText (text: string, cdata: boolean) {
    const parent = open.at(-1)
    if (parent === undefined) {
      if (cdata || !BLANK.test(text)) refuse('there is text outside of any element', 'remove it')
      return
    }
    parent.text += text.length
    checkText(parent.text, `the element "${parent.element.name}"`)
    add(cdata ? { type: 'text', text, cdata } : { type: 'text', text })
  }
  function closeElement () {
    const closed = open.pop()?.element
    if (closed === undefined) return
    dropIndentation(closed)
    const [root, ...others] = open
    if (onRecord === undefined || root === undefined || others.length > 0) return
    root.element.children.splice(0)
    // The text between records belongs to the root and would otherwise add up.
    root.text = 0
    nodes = 1
    onRecord(closed)
  }

  parser.on('opentag', ({ name, attributes }) => {
    if (open.length >= maxDepth) refuse(`elements are nested more than ${maxDepth} deep`, 'flatten them')
    for (const [key, value] of Object.entries(attributes)) checkText(value.length, `the attribute "${key}"`)
    const element = createXmlElement(name, [], { ...attributes })
    add(element)
    open.push({ element, text: 0 })
  })
  parser.on('closetag', closeElement)
  parser.on('text', (text) => { addText(text, false) })
  parser.on('cdata', (text) => { addText(text, true) })
  parser.on('doctype', () => { refuse('a DOCTYPE is not accepted', 'remove it') })
  parser.on('comment', (text) => {
    checkText(text.length, 'a comment')
    add({ type: 'comment', text })
  })
  parser.on('processinginstruction', ({ target, body }) => {
    checkText(body.length, 'an instruction')
    add({ type: 'instruction', name: target, text: body })
  })
  return top
}

/** Removes white space between elements, because the writer creates layout anew. Beside other text it is content. */
function dropIndentation (element: XmlElement) {
  const hasText = element.children.some((child) => child.type === 'text' && !isBlank(child))
  const hasOther = element.children.some((child) => child.type !== 'text')
  if (!hasText && hasOther) element.children = element.children.filter((child) => !isBlank(child))
}

function renderNode (node: XmlNode, indent: string, depth: number): string {
  const margin = indent.repeat(depth)
  if (node.type !== 'element') return margin + renderInline(node)
  const children = node.children.filter((child) => child.type !== 'text' || child.text !== '')
  if (children.length === 0 || children.some((child) => child.type === 'text')) return margin + renderInline(node)
  const inner = children.map((child) => renderNode(child, indent, depth + 1)).join('\n')
  return `${margin}<${renderTag(node)}>\n${inner}\n${margin}</${node.name}>`
}

function renderInline (node: XmlNode): string {
  switch (node.type) {
    case 'text':
      return node.cdata === true ? renderCdata(node.text) : escapeText(node.text)
    case 'comment':
      return `<!--${clean(node.text).replace(/-(?=-|$)/g, '- ')}-->`
    case 'instruction':
      return `<?${checkName(node.name)} ${clean(node.text).replaceAll('?>', '? >')}?>`
    case 'element': {
      const inner = node.children.map(renderInline).join('')
      return inner === '' ? `<${renderTag(node)}/>` : `<${renderTag(node)}>${inner}</${node.name}>`
    }
  }
}

function renderTag (element: XmlElement): string {
  const attributes = Object.entries(element.attributes)
    .map(([name, value]) => ` ${checkName(name)}="${escapeAttribute(value)}"`)
  return checkName(element.name) + attributes.join('')
}

function checkName (name: string): string {
  if (NAME.test(name)) return name
  throw new XmlError(`"${name}" is not a name in XML; begin it with a letter and use no spaces or quotes`)
}

function renderCdata (text: string): string {
  return `<![CDATA[${clean(text).replaceAll(']]>', ']]]]><![CDATA[>')}]]>`
}

function escapeText (text: string): string {
  return clean(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

// Section 3.3.3: a parser turns a bare line feed or tab in an attribute into a space.
function escapeAttribute (text: string): string {
  return escapeText(text).replaceAll('"', '&quot;').replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')
}

function clean (text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(FORBIDDEN, '')
}
