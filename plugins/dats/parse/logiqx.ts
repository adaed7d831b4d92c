import { createRequire } from 'node:module'
import type * as Saxes from 'saxes'
import { RecordBuilder } from './build-records.ts'
import { DEPTH_MAX, PIECE_MAX, VALUE_MAX } from './dat-limits.ts'
import { DatError, type DatParser } from './dat-types.ts'

const require = createRequire(import.meta.url)

// Logiqx XML: http://www.logiqx.com/Dats/datafile.dtd. MAME writes `mame` and `machine` in place of `datafile` and `game`.
const ROOTS = new Set(['datafile', 'mame'])
const GAMES = new Set(['game', 'machine'])
const REMEDY = 'correct it by hand or download the DAT again'

/**
 * Creates a parser of DATs in XML. A document type is ignored and no entity is expanded but the five of XML, so nothing
 * is fetched. Memory holds one game.
 */
export function createLogiqxParser (): DatParser {
  // Saxes loads with the first document, because most processes of a server parse none.
  const { SaxesParser } = require('saxes') as typeof Saxes
  const parser = new SaxesParser<{ xmlns: false }>({ xmlns: false })
  const refuse = (problem: string, remedy: string): never => { throw new DatError(parser.line, problem, remedy) }
  const builder = new RecordBuilder(refuse)
  let header: Record<string, string> | null = null
  let field: string | null = null
  let depth = 0
  let sinceEvent = 0

  function openElement (name: string, attributes: Record<string, string>): void {
    if (++depth > DEPTH_MAX) refuse(`elements are nested more than ${DEPTH_MAX} deep`, 'flatten them')
    if (depth === 1 && !ROOTS.has(name)) {
      refuse(`the document is a <${name.slice(0, 50)}>`, 'a DAT in XML begins with <datafile> or <mame>')
    }
    // MAME has no header.
    if (depth === 1 && name === 'mame') builder.addHeader({ name: 'MAME', version: attributes.build })
    if (header !== null) field = name
    else if (depth === 2 && name === 'header') header = {}
    else if (builder.isInGame && (name === 'rom' || name === 'disk')) builder.addFile(attributes, name === 'disk')
    else if (!builder.isInGame && GAMES.has(name)) builder.openGame(attributes)
  }

  function closeElement (name: string): void {
    depth--
    field = null
    if (header !== null && depth === 1) {
      builder.addHeader(header)
      header = null
    } else if (GAMES.has(name)) {
      builder.closeGame()
    }
  }

  function addText (text: string): void {
    if (header === null || field === null) return
    header[field] = `${header[field] ?? ''}${text}`.slice(0, VALUE_MAX)
  }

  const onEvent = () => { sinceEvent = 0 }
  parser.on('error', (err) => { throw err })
  parser.on('opentag', ({ name, attributes }) => {
    onEvent()
    openElement(name.toLowerCase(), attributes)
  })
  parser.on('closetag', ({ name }) => {
    onEvent()
    closeElement(name.toLowerCase())
  })
  parser.on('text', addText)
  parser.on('cdata', addText)
  for (const event of ['doctype', 'comment', 'processinginstruction'] as const) parser.on(event, onEvent)

  function parse (step: () => void): void {
    try {
      step()
    } catch (err) {
      if (err instanceof DatError || !(err instanceof Error)) throw err
      const problem = err.message.replace(/^\d+:\d+: /, '').replace(/\.$/, '')
      throw new DatError(parser.line, `not well-formed XML, ${problem}`, REMEDY, { cause: err })
    }
  }

  return {
    records: builder.records,
    write (text) {
      sinceEvent += text.length
      parse(() => { parser.write(text) })
      if (sinceEvent > PIECE_MAX) refuse(`a tag or text has more than ${PIECE_MAX} characters`, 'shorten it')
    },
    close: () => { parse(() => { parser.close() }) }
  }
}
