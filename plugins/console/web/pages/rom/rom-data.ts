import { api, call } from '../../api/client.ts'
import { cache, useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'

export type DetailedRom = components['schemas']['DetailedRom']

const keyOf = (id: number | string) => `rom ${id}`
const sourcesKeyOf = (id: number | string) => `rom-sources ${id}`

/** One ROM with everything that belongs to it. */
export const useRom = (id: string) => useResource(keyOf(id),
  (signal) => call(api.GET('/api/roms/{id}', { params: { path: { id: Number(id) } }, signal })),
  {
    'rom:updated': (changed) => String(changed.id) === id,
    'notes:changed': (changed) => String(changed.rom_id) === id,
    'collections:changed': true,
    'sync:completed': true,
    'sync:conflict': (conflict) => String(conflict.rom_id) === id,
    'roms:deleted': true,
    'permissions:changed': true,
    'scan:done': true
  })

/** The providers and locks of the values of a ROM. */
export const useSources = (id: number) => useResource(sourcesKeyOf(id),
  (signal) => call(api.GET('/api/roms/{id}/sources', { params: { path: { id } }, signal })),
  { 'rom:updated': (changed) => changed.id === id, 'scan:done': true })

/** Shows a ROM that a change returned. */
export function showRom (rom: DetailedRom): void {
  cache.set<DetailedRom>(keyOf(rom.id), () => rom)
  cache.invalidate(sourcesKeyOf(rom.id))
}

/**
 * Loads a ROM again after a change whose response does not contain it. A button of that change stays busy until then,
 * because a second press would change what is gone.
 */
export async function reloadRom (id: number): Promise<void> {
  cache.invalidate(sourcesKeyOf(id))
  await cache.reload(keyOf(id))
}
