import type { FastifyInstance } from 'fastify'
import { Type } from '@sinclair/typebox'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { pickStored, propertiesOf, readOperatorSettings } from '../../core/loader/settings/operator-settings.ts'
import { isSecret } from '../../core/loader/settings/setting-kinds.ts'
import { type StoredValues, changeStoredValues } from '../../core/loader/settings/stored-settings.ts'
import { type PluginState, changeSettings } from './change-settings.ts'
import type { PluginParams, PluginSettingsView } from './schemas.ts'

const QUEUE = 'plugin-settings'
/** Enough for the start of a plugin in its own process on a busy machine. */
const APPLY_TIMEOUT_MS = 30_000

function toView (state: PluginState): PluginSettingsView {
  const { stored, operator: { values, sources } } = state
  const properties = Object.entries(propertiesOf(state.schema))
  const all: Record<string, unknown> = { ...stored, ...values }
  const shown = properties.filter(([name, schema]) => all[name] !== undefined && !isSecret(schema))
  const secrets = properties.filter(([name, schema]) => stored[name] !== undefined && isSecret(schema))
  return {
    values: Object.fromEntries(shown.map(([name]) => [name, all[name]])),
    stored_secrets: secrets.map(([name]) => name),
    fixed: sources
  }
}

/** Reads and changes the settings of plugins that administrators store. */
export function createPluginSettings (app: FastifyInstance, config: Config) {
  /** @throws ApiError NOT_FOUND for a plugin that is not installed or has no settings */
  function open ({ kind, key }: PluginParams, stored = app.pluginSettings.of(kind, key)): PluginState {
    const found = app.registry.definitions.find((one) => one.kind === kind && one.definition.key === key)
    if (found === undefined) throw notFound(`There is no ${kind} '${key}' that can have settings; GET /api/plugins lists all`)
    const { definition } = found
    const operator = readOperatorSettings(kind, definition, config)
    const schema = definition.config ?? Type.Object({})
    return { schema, stored: pickStored(stored, schema, operator.values), operator }
  }

  /** Applies stored settings in this process and in the scan worker, which runs the plugin. */
  async function apply (): Promise<void> {
    await app.pluginSettings.apply()
    if (!await app.workers.isAlive('worker')) return
    await app.jobs.request(QUEUE, {}, APPLY_TIMEOUT_MS).catch((err: unknown) => {
      // The worker follows the notification as well, so the settings apply later.
      if (!(err instanceof ApiError)) throw err
      app.log.warn({ err }, 'the scan worker did not apply the settings of a plugin in time')
    })
  }

  app.jobs.define(QUEUE, {
    concurrency: 1,
    timeoutSeconds: APPLY_TIMEOUT_MS / 1_000,
    async run () {
      await app.pluginSettings.apply()
      return null
    }
  })

  async function store (
    db: Db, plugin: PluginParams, change: (state: PluginState) => StoredValues
  ): Promise<PluginSettingsView> {
    open(plugin)
    const name = `${plugin.kind}/${plugin.key}`
    await inTransaction(db, async (tx) => {
      await changeStoredValues(tx, app.secrets, name, (stored) => change(open(plugin, stored)))
    })
    await apply()
    return toView(open(plugin))
  }

  return {
    get: (plugin: PluginParams): PluginSettingsView => toView(open(plugin)),

    /** @throws ApiError NOT_FOUND · INVALID that names each wrong setting */
    replace: (db: Db, plugin: PluginParams, wanted: StoredValues) =>
      store(db, plugin, (state) => changeSettings(state, wanted)),

    /** Deletes all stored settings, secrets included. @throws ApiError NOT_FOUND */
    clear: (db: Db, plugin: PluginParams) => store(db, plugin, () => ({}))
  }
}
