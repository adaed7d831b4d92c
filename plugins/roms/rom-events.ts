import type { TObject, TProperties } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { SIGNED_IN_ROOM, userRoom } from '../../core/sockets/sockets.ts'

/** Fields that belong to one user, or that clients load with lists and details. */
const PRIVATE_FIELDS = ['created_at', 'updated_at', 'rom_user', 'sibling_roms', 'files']

/** Returns the rooms that hear of a change in the library, for the users who may see it; null for everybody. */
export function roomsOf (audience: readonly number[] | null, { sockets }: Pick<Config, 'sockets'>): string | string[] | null {
  return audience?.map(userRoom) ?? (sockets.guests === 'totals' ? SIGNED_IN_ROOM : null)
}

/** Creates the schema of a ROM in events: the simple schema without private fields, and with `flags`. */
export function createShownSchema (app: FastifyInstance, title: string, flags: TProperties = {}) {
  const { required = [], properties = {} } = (app.roms.schemas.find(({ $id }) => $id === 'SimpleRom') ?? {}) as Partial<TObject>
  const isShown = (name: string) => !PRIVATE_FIELDS.includes(name)
  const shown = Object.fromEntries(Object.entries(properties).filter(([name]) => isShown(name)))
  const names = new Set([...required.filter(isShown), ...Object.keys(flags)])
  return { type: 'object', title, properties: { ...shown, ...flags }, required: [...names] }
}

/** Returns the fields of a ROM that everybody who sees it receives in events. */
export const toShown = (rom: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(rom).filter(([name]) => !PRIVATE_FIELDS.includes(name)))
