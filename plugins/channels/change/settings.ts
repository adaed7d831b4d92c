import { isDeepStrictEqual } from 'node:util'
import type { ChannelDefinition } from '@svc/plugin-sdk'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { AddressRefusedError, checkUrl, originOf } from '../../../core/http/addresses.ts'
import { describeType } from '../../../core/config/describe-type.ts'
import { ApiError, badRequest } from '../../../core/errors.ts'
import type { Loaded } from '../../../core/loader/registry.ts'
import { listErrors } from '../../../core/web/violations.ts'
import { listAddresses } from '../host/http.ts'
import type { StoredSettings, Settings } from '../sealed-settings.ts'

type GivenSettings = Readonly<Record<string, unknown>>

const propertiesOf = ({ settings }: ChannelDefinition): [string, TSchema][] => Object.entries(settings.properties)
const isEmpty = (value: unknown) => value === undefined || value === null || value === ''

/** True for a channel type whose settings are a service and its fields, some of them secret. */
const hasFields = ({ secretKeys }: ChannelDefinition) => secretKeys !== undefined

const withoutEmpty = (values: GivenSettings) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => !isEmpty(value)))

function readFields (given: unknown, stored: StoredSettings | null): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const storedValue = (stored?.settings.fields ?? {}) as GivenSettings
  const secrets = Object.fromEntries((stored?.view.stored_secrets ?? []).map((key) => [key, storedValue[key]]))
  return withoutEmpty({ ...secrets, ...given })
}

function readSetting (
  [name, schema]: [string, TSchema], given: GivenSettings, stored: StoredSettings | null, isService: boolean
): unknown {
  const storedValue = stored?.settings[name]
  const value = given[name]
  if (isService && name === 'service' && storedValue !== undefined) return storedValue
  if (isService && name === 'fields') return isEmpty(value) ? storedValue : readFields(value, stored)
  if (schema.writeOnly === true) return value === undefined ? storedValue : isEmpty(value) ? undefined : value
  return value ?? storedValue
}

/** True if a request contains settings. */
export const touchesSettings = (definition: ChannelDefinition, given: GivenSettings) =>
  propertiesOf(definition).some(([name, { writeOnly }]) =>
    given[name] !== undefined && (given[name] !== null || writeOnly === true))

/** Merges the settings of a request into the stored ones, without checks. */
export function mergeSettings (
  definition: ChannelDefinition, given: GivenSettings, stored: StoredSettings | null
): Settings {
  const entries = propertiesOf(definition)
    .map((property) => [property[0], readSetting(property, given, stored, hasFields(definition))] as const)
    .filter(([, value]) => value !== undefined)
  return Value.Default(definition.settings, Object.fromEntries(entries)) as Settings
}

function checkForm (definition: ChannelDefinition, settings: Settings): void {
  const problems = listErrors(definition.settings, settings)
  if (problems.length === 0) return
  throw new ApiError('INVALID', undefined, {
    // The error contains no input, because it may be a secret.
    violations: problems.map(({ path, schema, value }) => ({
      loc: ['body', ...path.split('/').slice(1)],
      msg: value === undefined ? 'This setting is required' : `This value is not ${describeType(schema)}`,
      type: value === undefined ? 'required' : 'value_error'
    }))
  })
}

/** Checks the form of an address. A value that is not a text is left to the schema. */
function checkAddress (url: unknown): void {
  if (typeof url !== 'string' || url === '') return
  if (listAddresses({ url }).length === 1 && new URL(url).port !== '0') return
  throw badRequest('url is not an address; give one like https://host/path, with a port from 1 to 65535')
}

/** @throws ApiError INVALID for a wrong form, BAD_REQUEST for an address that may not be reached. */
export function checkSettings (
  { definition, trust }: Loaded<ChannelDefinition>, settings: Settings, isAdmin: boolean
): void {
  if (definition.adminOnly === true && !isAdmin) {
    throw badRequest(`Only administrators may have a channel of the type '${definition.key}'`)
  }
  if ('url' in definition.settings.properties) checkAddress(settings.url)
  checkForm(definition, settings)
  if (isAdmin) return
  try {
    for (const address of listAddresses(settings)) checkUrl(new URL(address), { trustedOrigins: trust.origins })
  } catch (err) {
    if (err instanceof AddressRefusedError) throw badRequest(err.message)
    throw err
  }
}

const originsOf = (settings: Settings) => listAddresses(settings).map(originOf).sort()

/** Returns the names of secrets that a request leaves unchanged. */
function listUnchangedSecrets (definition: ChannelDefinition, given: GivenSettings, stored: StoredSettings): string[] {
  const marked = propertiesOf(definition)
    .filter(
      ([name, schema]) => schema.writeOnly === true && given[name] === undefined && !isEmpty(stored.settings[name])
    )
    .map(([name]) => name)
  const fields = isEmpty(given.fields) ? {} : given.fields as GivenSettings
  const named = (stored.view.stored_secrets ?? []).filter((key) => fields[key] === undefined)
  return [...marked, ...named]
}

/**
 * Checks that no stored secret moves to another destination than the one it was entered for.
 *
 * @throws ApiError BAD_REQUEST
 */
export function checkMove (
  definition: ChannelDefinition, given: GivenSettings, stored: StoredSettings, next: StoredSettings
): void {
  const unchanged = listUnchangedSecrets(definition, given, stored)
  if (unchanged.length === 0) return
  const [before, after] = [originsOf(stored.settings), originsOf(next.settings)]
  const hasMoved = before.length + after.length > 0
    ? !isDeepStrictEqual(before, after)
    : stored.destination !== next.destination
  if (!hasMoved) return
  throw badRequest(`The channel has a new destination: enter its secrets again, or send them empty (${unchanged.join(', ')})`)
}
