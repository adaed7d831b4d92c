import type { TObject, TProperties } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { SIGNED_IN_ROOM, userRoom } from '../../core/sockets/sockets.ts'

/** Fields that belong to one user, or that clients load with lists and details. */
const PRIVATE_FIELDS = ['created_at', 'updated_at', 'rom_user', 'sibling_roms', 'files']

/** Who hears of a thing of the library that so many users may see; null for everybody. */
export function roomsOf (audience: readonly number[] | null, { sockets }: Pick<Config, 'sockets'>): string | string[] | null {
  return audience?.map(userRoom) ?? (sockets.guests === 'totals' ? SIGNED_IN_ROOM : null)
}

/** What events show of a ROM: the simple schema without what is left out, and with `flags`. */
export function createShownSchema (app: FastifyInstance, title: string, flags: TProperties = {}) {
  const { required = [], properties = {} } = (app.roms.schemas.find(({ $id }) => $id === 'SimpleRom') ?? {}) as Partial<TObject>
  const isShown = (name: string) => !PRIVATE_FIELDS.includes(name)
  const shown = Object.fromEntries(Object.entries(properties).filter(([name]) => isShown(name)))
  const names = new Set([...required.filter(isShown), ...Object.keys(flags)])
  return { type: 'object', title, properties: { ...shown, ...flags }, required: [...names] }
}

/** What everybody who may see a ROM is told of it. */
export const toShown = (rom: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(rom).filter(([name]) => !PRIVATE_FIELDS.includes(name)))
