import type { GameProgress, ProviderDefinition } from '@svc/plugin-sdk'
import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Db } from '../../../core/database/db.ts'
import { invalid } from '../../../core/errors.ts'
import type { Registry } from '../../../core/loader/registry.ts'
import { Nullable } from '../../../core/typebox.ts'
import { ProviderAccount } from '../entities.ts'
import { upsertProviderAccount } from '../rows.ts'

/** The settings that users may make for one provider, from which their progress is read. */
interface AccountKind {
  key: string
  /** Each setting has the same name here and on the wire. */
  settings: TObject
}

/** Every response has these fields, with or without the provider's plugin. */
const KNOWN: readonly AccountKind[] = [{
  key: 'ra',
  settings: Type.Object({ ra_username: Type.String({ maxLength: 255 }) })
}]

const Progression = Nullable(Type.Object({}, { additionalProperties: true }))

export type StoredProgress = readonly GameProgress<object>[]

/** Returns the wire form of a user's progress in all games at one provider. */
function toProgression (key: string, progress: StoredProgress) {
  const results = progress.map(({ id, ...one }) => ({ [`rom_${key}_id`]: id, ...one }))
  return { total: results.length, results }
}

function read ({ key, settings }: AccountKind, input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(settings.properties)) {
    const value = typeof input[name] === 'string' ? input[name].trim() : input[name]
    if (value === undefined || value === null || value === '') continue
    if (!Value.Check(schema, value)) throw invalid(['body', name], `is not what ${key} accepts`, value)
    given[name] = value
  }
  return given
}

/** The accounts of users at providers: the settings that providers need, and the fields that clients see. */
export function createProviderAccounts ({ definitions }: Pick<Registry, 'definitions'>) {
  const kinds = new Map(KNOWN.map((kind) => [kind.key, kind]))
  for (const { kind, definition } of definitions) {
    const { key, progress } = definition as ProviderDefinition
    if (kind === 'provider' && progress !== undefined) kinds.set(key, { key, settings: progress.account })
  }
  const all = [...kinds.values()]

  return {
    /** Fields that accounts add to the wire form of a user. */
    viewFields: Object.fromEntries(all.flatMap(({ key, settings }): [string, TSchema][] => [
      ...Object.entries(settings.properties).map(([name, schema]): [string, TSchema] => [name, Nullable(schema)]),
      [`${key}_progression`, Progression]
    ])),

    /** Fields that accounts add to an update. */
    updateFields: Object.fromEntries(all.flatMap(({ settings }) => Object.entries(settings.properties)
      .map(([name, schema]): [string, TSchema] =>
        [name, Type.Optional(Nullable({
          ...schema, pattern: '^[^\\u0000]*$', description: 'An empty value changes nothing'
        }))]))),

    /**
     * Returns the settings of an update, by provider. Empty values change nothing.
     *
     * @throws ApiError INVALID
     */
    readUpdate: (input: Readonly<Record<string, unknown>>): Map<string, Record<string, unknown>> =>
      new Map(all.map((kind) => [kind.key, read(kind, input)] as const)
        .filter(([, given]) => Object.keys(given).length > 0)),

    /** Stores settings. A change deletes the progress, because it belongs to the former account at the provider. */
    async write (
      tx: Db, userId: number, updates: ReadonlyMap<string, Record<string, unknown>>
    ): Promise<void> {
      for (const [provider, settings] of updates) {
        await upsertProviderAccount(tx, userId, provider, settings)
      }
    },

    /** Returns the account fields of many users. */
    async views (db: Db, userIds: readonly number[]): Promise<Map<number, Record<string, unknown>>> {
      const rows = await db.em.find(ProviderAccount, { user: { $in: [...userIds] } }, { disableIdentityMap: true })
      const byUser = Map.groupBy(rows, (row) => row.user.id)
      return new Map(userIds.map((id) => {
        const accounts = new Map(byUser.get(id)?.map((row) => [row.provider, row]))
        const fields = all.flatMap(({ key, settings }) => {
          const account = accounts.get(key)
          const set = Object.keys(settings.properties).map((name) => [name, account?.settings[name] ?? null] as const)
          const stored = account?.progress as StoredProgress | null | undefined
          return [...set, [`${key}_progression`, stored ? toProgression(key, stored) : null] as const]
        })
        return [id, Object.fromEntries(fields)]
      }))
    },

    /** Returns the account fields of a guest. */
    noView: (): Record<string, null> => Object.fromEntries(all.flatMap(({ key, settings }) =>
      [...Object.keys(settings.properties), `${key}_progression`].map((name) => [name, null])))
  }
}
export type ProviderAccounts = ReturnType<typeof createProviderAccounts>
