import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import { roomsOf } from '../../permissions/audience-rooms.ts'
import { toEventRom } from '../../roms/rom-events.ts'
import { type Listeners, PER_SECOND } from './listeners.ts'

/** The token bucket holds the ROM events of this many seconds, for bursts. ROMs beyond it appear in the stats alone. */
const BURST_SECONDS = 5

/** Sends events about ROMs, at a rate that clients can handle. */
export interface Announcer {
  roms (ids: readonly number[], flags: { is_new: boolean, is_identifying: boolean }): Promise<void>
}

export function createAnnouncer (app: FastifyInstance, config: Config, listeners: Listeners): Announcer {
  let tokens = PER_SECOND.roms * BURST_SECONDS
  let refilledAt = performance.now()
  /** ROMs that clients show as being identified: the event that ends this must be sent. */
  const mustBeSent = new Set<number>()

  function reserve (wanted: number): number {
    const now = performance.now()
    const perSecond = listeners.perSecond('roms')
    tokens = Math.min(Math.max(1, perSecond * BURST_SECONDS), tokens + (now - refilledAt) / 1_000 * perSecond)
    refilledAt = now
    const granted = listeners.reserve(Math.min(wanted, Math.floor(tokens)))
    tokens -= granted
    return granted
  }

  function choose (ids: readonly number[], isIdentifying: boolean): number[] {
    const urgent = isIdentifying ? [] : ids.filter((id) => mustBeSent.delete(id))
    listeners.countUrgent(urgent.length)
    const others = ids.filter((id) => !urgent.includes(id))
    const chosen = others.slice(0, reserve(others.length))
    if (isIdentifying) chosen.forEach((id) => mustBeSent.add(id))
    return [...urgent, ...chosen]
  }

  return {
    async roms (ids, flags) {
      if (ids.length === 0) return
      await listeners.counted
      const chosen = choose(ids, flags.is_identifying)
      if (chosen.length === 0 || !listeners.hasAny()) return
      const audiences = await app.permissions.listAudiences(app.db, chosen, true)
      for (const rom of await app.roms.views(chosen, null)) {
        const rooms = roomsOf(audiences.get(rom.id) ?? null, config)
        app.sockets.publish(rooms, 'scan:scanning_rom', { ...toEventRom(rom), ...flags })
      }
    }
  }
}
