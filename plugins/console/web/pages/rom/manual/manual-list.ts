import type { components } from '../../../api/schema.d.ts'
import { storedFileOf } from '../../../stored-file.ts'

type DetailedRom = components['schemas']['DetailedRom']

/** A manual of a game: the one that a provider or person gave, or a file in its folder. */
export interface ManualFile {
  /** Empty for the manual outside of the folder. */
  name: string
  /** Relative to the start page. */
  address: string
  isPdf: boolean
}

const isPdf = (name: string): boolean => /\.pdf$/i.test(name.split('?')[0] ?? '')

/** Lists the manuals of a game. */
export function listManuals (rom: Pick<DetailedRom, 'has_manual' | 'path_manual' | 'files'>): ManualFile[] {
  const stored = rom.has_manual ? [{ name: '', address: storedFileOf(rom.path_manual), isPdf: isPdf(rom.path_manual) }] : []
  const inFolder = rom.files.filter(({ category }) => category === 'manual').map(({ id, file_name: name }) =>
    ({ name, address: `api/roms/${id}/files/content/${encodeURIComponent(name)}`, isPdf: isPdf(name) }))
  return [...stored, ...inFolder]
}
