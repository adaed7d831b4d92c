import assert from 'node:assert/strict'
import type { TObject } from '@sinclair/typebox'
import type { Limits } from '../limits.ts'
import { PLATFORMS, listPlatformIds } from '../platforms.ts'
import type { Plugin, PluginDefinition, PluginKind } from '../plugin.ts'
import type { ProviderDefinition } from '../provider.ts'

export type AnyPlugin = Plugin<PluginKind, PluginDefinition>

// The key pattern of the manifest, because the key becomes part of column, file and environment names.
const KEY = /^[a-z][a-z0-9-]{0,31}$/
const ENVIRONMENT_NAME = /^[A-Z][A-Z0-9_]*$/
const SECRET_NAME = /(?:secret|password|passphrase|token|api_?key)$/i

/** Checks that the default export is a plugin of this kind and that the host can use its data. */
export function checkDefinition (plugin: AnyPlugin, kind: PluginKind) {
  const { definition } = plugin
  const factory = `define${kind.charAt(0).toUpperCase()}${kind.slice(1)}`
  assert.equal(typeof definition, 'object', `the default export must be the result of ${factory}`)
  assert.equal(plugin.kind, kind, `this is a ${plugin.kind}; export the result of ${factory}`)
  assert.match(definition.key, KEY, `the key "${definition.key}" must fit ${KEY.source}`)
  assert.ok(definition.name.trim() !== '', 'give the plugin a display name')
  if (definition.config !== undefined) checkSettings(definition.config, 'config')
}

/** Checks that a form can be built from the schema and that the form shows no secret. */
export function checkSettings (schema: TObject, what: string) {
  assert.equal(schema.type, 'object', `${what} must be an object schema: Type.Object({ … })`)
  const names = new Set<string>()
  for (const [name, property] of Object.entries(schema.properties)) {
    const location = `${what}.${name}`
    assert.ok((property.description ?? '').trim() !== '', `${location} needs a description, for the form and the docs`)
    const isSecret = SECRET_NAME.test(name) && property.type !== 'boolean'
    if (isSecret) assert.equal(property.writeOnly, true, `${location} looks like a secret; mark it writeOnly: true`)
    checkEnvironmentName(property.env, location, names)
  }
}

function checkEnvironmentName (name: unknown, location: string, seen: Set<string>) {
  if (name === undefined) return
  assert.ok(typeof name === 'string' && ENVIRONMENT_NAME.test(name), `${location}: env ${JSON.stringify(name)} must be UPPER_CASE`)
  assert.ok(!seen.has(name), `${location}: env ${name} is already that of another property`)
  seen.add(name)
}

/** The parts without which a group of the definition is of no use. */
const NEEDS = [
  ['progress', 'account', 'to know whose progress it reads'],
  ['progress', 'schema', 'for the shape of what it reads'],
  ['progress', 'read', 'to read it'],
  ['media', 'fetch', 'because other media are not fetched for the provider'],
  ['index', 'build', 'to fill it']
] as const

/** Checks the parts of a definition that only providers declare. */
export function checkProviderDefinition (definition: ProviderDefinition, config: unknown) {
  const { kind = 'games', id } = definition
  if (kind === 'ids') assert.equal(id, undefined, "a provider of the kind 'ids' has no id of its own; remove id")
  else assert.ok(id === 'integer' || id === 'string', `id must be 'integer' or 'string', not ${id}`)
  const isLookedUp = [definition.identify, definition.getById].some((method) => typeof method === 'function')
  assert.ok(isLookedUp, 'a provider needs identify (rom, ctx) or getById (id, rom, ctx)')
  for (const [group, part, why] of NEEDS) {
    const parts = new Map<string, unknown>(Object.entries(definition[group] ?? {}))
    if (definition[group] !== undefined) assert.ok(parts.get(part) !== undefined, `${group} needs ${group}.${part}, ${why}`)
  }
  for (const [name, property] of Object.entries(definition.scanOptions?.properties ?? {})) {
    assert.ok('default' in property, `scanOptions.${name} needs a default, for scans that do not name it`)
  }
  const { links = [], after = [] } = definition.order ?? {}
  assert.ok(![...links, ...after].includes(definition.key), 'order.links and order.after name other providers, not this one')
  const prefix = `${definition.key.replaceAll('-', '_')}_`
  for (const name of Object.keys(definition.progress?.account.properties ?? {})) {
    assert.ok(name.startsWith(prefix), `progress.account.${name} must begin with "${prefix}": users set it beside their own fields, such as password`)
  }
  if (definition.metadata !== undefined) {
    assert.equal(definition.metadata.type, 'object', 'metadata must be an object schema: Type.Object({ … })')
  }
  if (definition.tag !== undefined) {
    assert.match(definition.tag, /^[a-z][a-z0-9-]*$/, `the tag "${definition.tag}" must be lower-case letters, digits and "-", a letter first`)
    assert.equal(typeof definition.getById, 'function', `the tag "${definition.tag}" fixes an id, so getById is needed`)
  }
  const known = new Set(PLATFORMS.map((platform) => platform.slug))
  for (const [slug, entry] of Object.entries(definition.platforms ?? {})) {
    assert.ok(known.has(slug), `platforms: "${slug}" is not a canonical slug; use one of PLATFORMS`)
    const isValid = listPlatformIds(entry).every((id) => typeof id === 'string' || Number.isSafeInteger(id))
    assert.ok(isValid, `platforms.${slug}: ${JSON.stringify(entry)} contains an invalid id`)
  }
  const { limits = {} } = definition
  checkLimits(typeof limits === 'function' ? limits(config as never) : limits)
}

function checkLimits ({ concurrency, timeoutMs, rates = [] }: Limits) {
  for (const [name, limit] of Object.entries({ concurrency, timeoutMs })) {
    const isValid = limit === undefined || (Number.isFinite(limit) && limit > 0)
    assert.ok(isValid, `limits.${name} must be a number above 0, not ${limit}`)
  }
  for (const { requests, perMs } of rates) {
    const isValid = Number.isInteger(requests) && requests > 0 && Number.isFinite(perMs) && perMs > 0
    assert.ok(isValid, `limits.rates: ${requests} requests in ${perMs} ms is not a valid rate; both must be above 0, and requests a whole number`)
  }
}

/** Returns the secret values of a configuration, from four characters on. */
export function secretValues (schema: TObject | undefined, values: unknown): string[] {
  if (schema === undefined || typeof values !== 'object' || values === null) return []
  return Object.entries(schema.properties)
    .filter(([, property]) => property.writeOnly === true)
    .flatMap(([name]) => collectTexts(Reflect.get(values, name)))
    .filter((text) => text.length >= 4)
}

function collectTexts (value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(collectTexts) : []
}

/** Fails when the text contains one of the secrets, plain or URL-encoded. */
export function checkNoSecrets (secrets: readonly string[], text: string, what: string) {
  for (const secret of secrets) {
    const isShown = text.includes(secret) || text.includes(encodeURIComponent(secret))
    assert.ok(!isShown, `${what} shows a writeOnly value: ${text.slice(0, 300)}`)
  }
}
