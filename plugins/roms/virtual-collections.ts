/** What virtual collections are made of: their type, and the column of ROMs that holds the values. */
export const VIRTUAL_TYPES = {
  genre: 'genres',
  franchise: 'franchises',
  collection: 'collections',
  mode: 'game_modes',
  company: 'companies'
} as const

export type VirtualType = keyof typeof VIRTUAL_TYPES
/** One value of a field, which stands for all ROMs that have it. */
export interface VirtualCollection { type: VirtualType, name: string }

export const isVirtualType = (type: unknown): type is VirtualType => typeof type === 'string' && Object.hasOwn(VIRTUAL_TYPES, type)

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
/** JSON text as Python writes it: ASCII alone. */
const quote = (text: string) => JSON.stringify(text).replaceAll(/[^\0-\x7f]/g, escapeUnit)

/** Clients keep these ids, so they are those that RomM gives. */
export function virtualId ({ type, name }: VirtualCollection): string {
  const json = `{"name": ${quote(name)}, "type": "${type}"}`
  return Buffer.from(json).toString('base64').replaceAll('+', '-').replaceAll('/', '_')
}

/** The collection that an id names, with or without the padding; null for what is no such id. */
export function readVirtualId (id: string): VirtualCollection | null {
  if (!/^[\w+/-]+=*$/.test(id)) return null
  try {
    const { name, type } = JSON.parse(Buffer.from(id, 'base64url').toString()) as Partial<Record<string, unknown>>
    return isVirtualType(type) && typeof name === 'string' && !name.includes('\0') ? { type, name } : null
  } catch {
    return null
  }
}
