import { resetScripts, scriptOf } from '../fixtures/script.ts'
import { type StoredRom, buildScanTest } from './support.ts'
import type { Test } from 'tap'

export const alpha = scriptOf('alpha')
export const digest = scriptOf('digest')

export async function startScanTypes (t: Test) {
  const test = await buildScanTest(t, { providers: ['alpha', 'beta', 'digest'] })
  const { put, scan, rom, roms, libraryDir, sql } = test

  t.beforeEach(resetScripts)

  /**
   * Prepares a platform with three known ROMs and a file that no scan has seen. Alpha and Digest matched one ROM, no
   * provider knew another one, and the name of the third has changed its meaning since.
   */
  async function prepare (folder: string): Promise<Record<'known' | 'blank', StoredRom>> {
    await put({ [`roms/${folder}/Known (USA) (Rev 1).bin`]: 'known', [`roms/${folder}/Blank (Europe).bin`]: 'blank' })
    alpha.identify = (game) => game.fs_name.startsWith('Known')
      ? { id: 7, name: 'Known by Alpha', summary: 'first', ids: { beta: 'b7' } }
      : null
    digest.identify = (game) => game.fs_name.startsWith('Known') ? { id: 70, name: 'Known by Digest' } : null
    await scan({ platform_fs_slugs: [folder] })
    const stored = { known: await rom(folder, 'Known (USA) (Rev 1).bin'), blank: await rom(folder, 'Blank (Europe).bin') }
    await sql("update roms set tags = '{kept}', crc_hash = 'stale' where id = any($1)", [[stored.known.id, stored.blank.id]])
    await put({ [`roms/${folder}/New.bin`]: 'new' })
    resetScripts()
    alpha.identify = (game) => game.fs_name.startsWith('New') ? { id: 8, name: 'New by Alpha' } : null
    return stored
  }
  return { put, scan, rom, roms, libraryDir, sql, prepare }
}
