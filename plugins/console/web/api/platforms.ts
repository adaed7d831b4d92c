import { api, call } from './client.ts'
import { type Invalidation, useResource } from './resource.ts'
import type { components } from './schema.d.ts'

export type Platform = components['schemas']['Platform']

/** Events after which platforms or the numbers of their ROMs may have changed. */
const EVENTS: Invalidation = { 'scan:scanning_platform': true, 'scan:update_stats': true, 'scan:done': true, 'permissions:changed': true }

/** The platforms with ROMs. */
export const usePlatforms = () => useResource('platforms', (signal) => call(api.GET('/api/platforms', { signal })), EVENTS)
