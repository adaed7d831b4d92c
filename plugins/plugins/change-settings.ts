import { isDeepStrictEqual } from 'node:util'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { describeType } from '../../core/config/describe-type.ts'
import { isCron } from '../../core/config/cron.ts'
import { ApiError, type Violation } from '../../core/errors.ts'
import { type OperatorSettings, propertiesOf } from '../../core/loader/settings/operator-settings.ts'
import { isChoice, isSecret } from '../../core/loader/settings/setting-kinds.ts'
import type { StoredValues } from '../../core/loader/settings/stored-settings.ts'

/** The names of settings with a cron line; the pattern of their schema checks less. */
const CRONS = ['refresh_cron', 'progress_cron']

/** The settings of one plugin before a change. */
export interface PluginState {
  /** The schema of the plugin's configuration. */
  schema: TSchema
  stored: StoredValues
  operator: OperatorSettings
}

/** Returns the values that the plugin gets, with its defaults. */
const resolve = ({ schema, operator }: PluginState, stored: StoredValues) =>
  Value.Default(schema, structuredClone({ ...stored, ...operator.values })) as Record<string, unknown>

const violation = (path: readonly (string | number)[], msg: string): Violation => ({ loc: ['body', ...path], msg, type: 'value_error' })

/** Finds members of a request that are no setting, or that only the operator may change. */
function findForeign (state: PluginState, wanted: StoredValues): Violation[] {
  const properties = propertiesOf(state.schema)
  const { sources } = state.operator
  const names = Object.keys(properties)
  const known = names.length === 0 ? 'the plugin has no settings' : `the settings are ${names.join(', ')}`
  return Object.keys(wanted).flatMap((name) => {
    if (!Object.hasOwn(properties, name)) return [violation([name], `Unknown setting '${name}'; ${known}`)]
    return Object.hasOwn(sources, name) ? [violation([name], `'${name}' is fixed by ${sources[name]}; change it there`)] : []
  })
}

/** Finds values that do not fit the schema. A plugin that is switched off may lack required settings. */
function findInvalid (state: PluginState, values: Record<string, unknown>): Violation[] {
  const properties = propertiesOf(state.schema)
  const problems = [...Value.Errors(state.schema, values)]
    .filter(({ value }) => value !== undefined || values.enabled !== false)
  const wrong = problems.map(({ path, schema, value }) => {
    const keys = path.split('/').slice(1).map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    const property = properties[keys[0] ?? ''] ?? schema
    const shown = isSecret(property) || (typeof value === 'object' && value !== null) ? 'the value' : JSON.stringify(value)
    return violation(keys, value === undefined ? `'${keys.join('.')}' is required` : `${shown} is not ${describeType(schema)}`)
  })
  const crons = CRONS.flatMap((name) => {
    const value = values[name]
    return typeof value !== 'string' || isCron(value) ? [] : [violation([name], `${JSON.stringify(value)} is no cron line, such as 0 4 * * *`)]
  })
  return [...new Map([...wrong, ...crons].map((one) => [JSON.stringify(one.loc), one])).values()]
}

/**
 * Finds secrets that must be entered again. A text or number may decide to which server a secret is sent. Somebody who
 * may change settings, but must not learn secrets, could otherwise redirect them.
 */
function findRedirected (state: PluginState, wanted: StoredValues, after: Record<string, unknown>): Violation[] {
  const properties = Object.entries(propertiesOf(state.schema))
  const before = resolve(state, state.stored)
  const changed = properties.find(([name, schema]) =>
    !isSecret(schema) && !isChoice(schema) && !isDeepStrictEqual(before[name], after[name]))?.[0]
  if (changed === undefined) return []
  const kept = properties.filter(([name, schema]) =>
    isSecret(schema) && after[name] !== undefined && (wanted[name] === undefined || wanted[name] === null))
  return kept.map(([name]) => {
    const source = state.operator.sources[name]
    return source === undefined
      ? violation([name], `Enter '${name}' again, because '${changed}' changes and may decide where it is sent`)
      : violation([changed], `'${changed}' may decide where '${name}' is sent, which ${source} sets; set both there`)
  })
}

/**
 * Returns the values to store: those of the request, and the secrets that it does not name. Null removes a value.
 *
 * @throws ApiError INVALID that names each wrong setting
 */
export function changeSettings (state: PluginState, wanted: StoredValues): StoredValues {
  const refuse = (violations: Violation[]) => {
    if (violations.length > 0) throw new ApiError('INVALID', undefined, { violations })
  }
  refuse(findForeign(state, wanted))
  const { schema, operator: { sources } } = state
  const entries = Object.entries(propertiesOf(schema)).filter(([name]) => !Object.hasOwn(sources, name))
  const next = Object.fromEntries(entries.flatMap(([name, property]) => {
    const value = wanted[name] === undefined && isSecret(property) ? state.stored[name] : wanted[name]
    return value === undefined || value === null ? [] : [[name, value]]
  }))
  const after = resolve(state, next)
  refuse(findInvalid(state, after))
  refuse(findRedirected(state, wanted, after))
  return next
}
