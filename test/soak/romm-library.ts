import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { renderRommDump } from '../plugins/imports/fixtures/romm-dump.ts'
import { ROMM_PASSWORD_HASH } from '../plugins/imports/fixtures/romm-rows.ts'
import { ROMM_5, type RommRows } from '../plugins/imports/fixtures/romm-schema.ts'

const PLATFORMS = ['gba', 'nes', 'sms', 'snes']
const USERS = 5
const T = '2026-03-01 10:00:00'
const times = { created_at: T, updated_at: T }

/** A library of RomM on disk, and the library of ROMs that both servers use. */
export interface RommLibrary { dump: string, basePath: string, libraryDir: string }

const folderOf = (userId: number) => `users/${Buffer.from(`User:${userId}`).toString('hex')}`
const numbers = (count: number) => Array.from({ length: count }, (_none, index) => index + 1)
const platformOf = (rom: number) => rom % PLATFORMS.length
const nameOf = (rom: number) => `Game ${String(rom).padStart(5, '0')} (Europe).rom`
const userOf = (save: number) => 1 + save % USERS
const contentOf = (save: number) => createHash('sha512').update(`save ${save}`).digest('hex').repeat(64)

function makeRows (roms: number, saves: number): RommRows {
  return {
    alembic_version: [{ version_num: '0107_roms_dedup_cover_index' }],
    users: numbers(USERS).map((id) => ({
      id, username: `user${id}`, hashed_password: ROMM_PASSWORD_HASH, enabled: true, role: id === 1 ? 'admin' : 'user', ...times
    })),
    platforms: PLATFORMS.map((slug, index) => ({ id: index + 1, fs_slug: slug, slug, name: slug, ...times })),
    roms: numbers(roms).map((id) => ({
      id, platform_id: platformOf(id) + 1, fs_name: nameOf(id), fs_path: `roms/${PLATFORMS[platformOf(id)] ?? ''}`, fs_extension: 'rom',
      name: `Game number ${id}`, summary: 'A game of many', igdb_id: id, ss_id: id * 7, fs_size_bytes: 10, ...times
    })),
    rom_user: numbers(roms).map((id) => ({
      id, rom_id: id, user_id: userOf(id), is_main_sibling: false, backlogged: false, now_playing: false, hidden: false,
      rating: id % 11, difficulty: 0, completion: id % 101, status: id % 2 === 0 ? 'FINISHED' : null, ...times
    })),
    rom_notes: numbers(saves).map((id) => ({
      id, rom_id: id, user_id: userOf(id), title: `Note ${id}`, content: 'text', is_public: false, tags: [], ...times
    })),
    saves: numbers(saves).map((id) => ({
      id, rom_id: id, user_id: userOf(id), file_name: `Game ${id}.srm`, file_path: `${folderOf(userOf(id))}/saves/x/${id}`,
      file_size_bytes: contentOf(id).length, emulator: '', slot: 'main', is_public: false, missing_from_fs: false, ...times
    })),
    collections: numbers(USERS).map((id) => ({
      id, user_id: id, name: 'Best', description: '', is_public: true, is_favorite: false, ...times
    })),
    collections_roms: numbers(roms).filter((id) => id % 10 === 0)
      .map((id) => ({ collection_id: userOf(id), rom_id: id, ...times }))
  }
}

/** Writes the ROMs, the saves and a dump of the database below a folder. */
export async function makeRommLibrary (folder: string, roms: number, saves: number): Promise<RommLibrary> {
  const [libraryDir, basePath, dump] = [join(folder, 'library'), join(folder, 'romm'), join(folder, 'romm.sql')]
  for (const platform of PLATFORMS) await mkdir(join(libraryDir, 'roms', platform), { recursive: true })
  for (const id of numbers(roms)) {
    await writeFile(join(libraryDir, 'roms', PLATFORMS[platformOf(id)] ?? '', nameOf(id)), `rom ${id}`)
  }
  for (const id of numbers(saves)) {
    const place = join(basePath, 'assets', folderOf(userOf(id)), 'saves/x', String(id))
    await mkdir(place, { recursive: true })
    await writeFile(join(place, `Game ${id}.srm`), contentOf(id))
  }
  await writeFile(dump, renderRommDump('pg_dump', ROMM_5, makeRows(roms, saves)))
  return { dump, basePath, libraryDir }
}
