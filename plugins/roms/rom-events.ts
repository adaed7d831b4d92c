import type { TObject, TProperties } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

/** Fields that belong to one user, or that clients load with lists and details. */
const PRIVATE_FIELDS = ['created_at', 'updated_at', 'rom_user', 'sibling_roms', 'files']

/** Returns the schema of a ROM in events: the simple schema without private fields, plus `flags`. */
export function createEventRomSchema (app: FastifyInstance, title: string, flags: TProperties = {}) {
  const { required = [], properties = {} } = (app.roms.schemas.find(({ $id }) => $id === 'SimpleRom') ?? {}) as Partial<TObject>
  const isShown = (name: string) => !PRIVATE_FIELDS.includes(name)
  const shown = Object.fromEntries(Object.entries(properties).filter(([name]) => isShown(name)))
  const names = new Set([...required.filter(isShown), ...Object.keys(flags)])
  return { type: 'object', title, properties: { ...shown, ...flags }, required: [...names] }
}

/** Returns the fields of a ROM that every listener who may see it gets. */
export const toEventRom = (rom: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(rom).filter(([name]) => !PRIVATE_FIELDS.includes(name)))
