import { type XmlElement, createXmlElement, renderXml } from '@svc/plugin-sdk/xml'
import type { DatFile, DatGame, DatHeader } from './dat-types.ts'

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n' +
  '<!DOCTYPE datafile PUBLIC "-//Logiqx//DTD ROM Management Datafile//EN" "http://www.logiqx.com/Dats/datafile.dtd">\n'

function toFileElement ({ name, size, crc, md5, sha1, status, merge, is_disk: isDisk }: DatFile): XmlElement {
  const values = { name, merge: merge ?? '', size: size === null ? '' : String(size), crc, md5, sha1, status: status === 'good' ? '' : status }
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
  return createXmlElement(isDisk ? 'disk' : 'rom', [], given)
}

/** Returns the beginning of a DAT in Logiqx XML, up to its first game. */
export function renderDatStart (header: DatHeader): string {
  const { name, description, version, date, author } = header
  const values: Record<string, string> = { name, description, version, date, author }
  const fields = Object.entries(values).filter(([, value]) => value !== '')
    .map(([field, value]) => createXmlElement(field, value))
  return `${DECLARATION}<datafile>\n${renderXml(createXmlElement('header', fields))}`
}

/** Returns one game as an element of a DAT. */
export function renderDatGame ({ name, clone_of: parent, files }: Pick<DatGame, 'name' | 'clone_of' | 'files'>): string {
  const attributes: Record<string, string> = parent === null ? { name } : { name, cloneof: parent }
  return renderXml(createXmlElement('game', [createXmlElement('description', name), ...files.map(toFileElement)], attributes))
}

/** The end of a DAT. */
export const DAT_END = '</datafile>\n'
