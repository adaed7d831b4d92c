import { buildTestApp } from '../../support.ts'
import { type AssetItem, createClient, sha1Of } from './support.ts'
import { addRom } from '../roms/support.ts'
import type { Test } from 'tap'

export let count = 0

export async function startHistory (t: Test) {
  const test = await buildTestApp(t, { env: { ASSET_VERSIONS_KEPT: '1000' } })
  const alice = createClient(test, await test.createUser('alice'))
  const newRom = () => addRom(test, { fs_name: `Game ${++count}.sfc` })

  /** Returns the SHA-1 of every content of a ROM's saves that can be read, also of deleted saves. */
  async function readAll (rom: number): Promise<Set<string>> {
    const found = new Set<string>()
    const live = await alice.get<AssetItem[]>(`/api/saves?rom_id=${rom}`)
    const deleted = (await alice.get<AssetItem[]>('/api/saves/deleted')).filter(({ rom_id: of }) => of === rom)
    const add = async (url: string) => {
      const content = await alice.content(url)
      if (content !== null) found.add(sha1Of(content))
    }
    for (const { id } of live) await add(`/api/saves/${id}/content`)
    for (const { id } of [...live, ...deleted]) {
      for (const version of await alice.versions(id)) await add(`/api/saves/${id}/versions/${version.id}/content`)
    }
    // A deleted save is read by restoring it, after the live saves were deleted to free its name.
    for (const { id } of deleted) {
      const now = await alice.get<AssetItem[]>(`/api/saves?rom_id=${rom}`)
      if (now.length > 0) await alice.call('POST', '/api/saves/delete', { saves: now.map((save) => save.id) })
      await alice.call('POST', `/api/saves/${id}/restore`)
      await add(`/api/saves/${id}/content`)
    }
    return found
  }
  return { test, alice, newRom, readAll }
}
