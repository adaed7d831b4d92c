/** The types of virtual collections, each with the column of ROMs that contains its values. */
export const VIRTUAL_TYPES = {
  genre: 'genres',
  franchise: 'franchises',
  collection: 'collections',
  mode: 'game_modes',
  company: 'companies'
} as const

export type VirtualType = keyof typeof VIRTUAL_TYPES
/** One value of a field; the collection contains all ROMs with this value. */
export interface VirtualCollection { type: VirtualType, name: string }

export const isVirtualType = (type: unknown): type is VirtualType => typeof type === 'string' && Object.hasOwn(VIRTUAL_TYPES, type)

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
/** Writes JSON text like Python: ASCII only. */
const quote = (text: string) => JSON.stringify(text).replaceAll(/[^\0-\x7f]/g, escapeUnit)

/** Returns the same id as RomM, because clients store these ids. */
export function virtualId ({ type, name }: VirtualCollection): string {
  const json = `{"name": ${quote(name)}, "type": "${type}"}`
  return Buffer.from(json).toString('base64').replaceAll('+', '-').replaceAll('/', '_')
}

/** Returns the collection of an id, with or without base64 padding; null for an invalid id. */
export function readVirtualId (id: string): VirtualCollection | null {
  if (!/^[\w+/-]+=*$/.test(id)) return null
  try {
    const { name, type } = JSON.parse(Buffer.from(id, 'base64url').toString()) as Partial<Record<string, unknown>>
    return isVirtualType(type) && typeof name === 'string' && !name.includes('\0') ? { type, name } : null
  } catch {
    return null
  }
}
