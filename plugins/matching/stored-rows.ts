import type { Db } from '../../core/database/db.ts'
import type { Rom, RomFile } from '../roms/entities.ts'
import { type RomColumnIn, romColumnsIn } from '../roms/rom-columns.ts'
import type { ProviderMatch, ProviderMatches } from './matches.ts'

const FILE_COLUMNS = ['file_name', 'file_path', 'is_top_level', 'chd_sha1_hash', 'archive_members', 'category', 'crc_hash',
  'md5_hash', 'sha1_hash'] as const satisfies readonly (keyof RomFile)[]

/** The columns of a stored ROM that a lookup and a merge need. */
export type LookupRom = Pick<Rom, RomColumnIn<'lookup'>>

/** The columns of a stored file that a lookup needs. */
export type LookupFile = Pick<RomFile, typeof FILE_COLUMNS[number] | 'file_size_bytes'>

/** A stored ROM with its files and matches. */
export interface StoredRom { rom: LookupRom, files: LookupFile[], stored: ProviderMatches }

function groupMatches (rows: readonly { rom_id: number, provider: string, match: ProviderMatch }[]) {
  const byRom = new Map<number, Map<string, ProviderMatch>>()
  for (const { rom_id: id, provider, match } of rows) {
    const matches = byRom.get(id) ?? new Map<string, ProviderMatch>()
    byRom.set(id, matches.set(provider, match))
  }
  return byRom
}

/** Loads ROMs for a lookup, by id. Returns plain rows without entities, because there are very many of them. */
export async function loadStoredRoms (db: Db, ids: readonly number[]): Promise<Map<number, StoredRom>> {
  const [roms, files, matches] = await Promise.all([
    db.query<LookupRom>(`select ${romColumnsIn('lookup').join(', ')} from roms where id = any($1::int[])`, [ids]),
    db.query<LookupFile & { rom_id: number }>(`select rom_id, file_size_bytes::float8 as file_size_bytes,
      ${FILE_COLUMNS.join(', ')} from rom_files where rom_id = any($1::int[]) order by id`, [ids]),
    db.query<{ rom_id: number, provider: string, match: ProviderMatch }>(
      'select rom_id, provider, match from rom_matches where rom_id = any($1::int[])', [ids])
  ])
  const filesOf = Map.groupBy(files.rows, (file) => file.rom_id)
  const matchesOf = groupMatches(matches.rows)
  return new Map(roms.rows.map((rom) => [rom.id, {
    rom,
    files: (filesOf.get(rom.id) ?? []).map(({ rom_id: _id, ...file }) => file),
    stored: matchesOf.get(rom.id) ?? new Map<string, ProviderMatch>()
  }]))
}
