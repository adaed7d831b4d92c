import assert from 'node:assert/strict'
import type { TObject } from '@sinclair/typebox'
import { PLATFORMS } from '../src/platforms.ts'
import type { Plugin, PluginDefinition, PluginKind } from '../src/plugin.ts'
import type { ProviderDefinition } from '../src/provider.ts'

export type AnyPlugin = Plugin<PluginKind, PluginDefinition>

// The same as in the manifest: the key becomes part of column, file and environment names.
const KEY = /^[a-z][a-z0-9-]{0,31}$/
const ENVIRONMENT_NAME = /^[A-Z][A-Z0-9_]*$/
const SECRET_NAME = /(?:secret|password|passphrase|token|api_?key)$/i

/** Whether the default export is a plugin of this kind and its data can be used by the host. */
export function checkDefinition (plugin: AnyPlugin, kind: PluginKind) {
  const { definition } = plugin
  const factory = `define${kind.charAt(0).toUpperCase()}${kind.slice(1)}`
  assert.equal(typeof plugin, 'function', `export default what ${factory} returns`)
  assert.equal(plugin.kind, kind, `this is a ${plugin.kind}; export what ${factory} returns`)
  assert.match(definition.key, KEY, `the key "${definition.key}" must fit ${KEY.source}`)
  assert.ok(definition.name.trim() !== '', 'give the plugin a display name')
  if (definition.config !== undefined) checkSettings(definition.config, 'config')
}

/** Whether a form can be drawn from the schema and no secret would be shown. */
export function checkSettings (schema: TObject, what: string) {
  assert.equal(schema.type, 'object', `${what} must be an object schema: Type.Object({ … })`)
  const names = new Set<string>()
  for (const [name, property] of Object.entries(schema.properties)) {
    const here = `${what}.${name}`
    assert.ok((property.description ?? '').trim() !== '', `${here} needs a description, for the form and the docs`)
    const isSecret = SECRET_NAME.test(name) && property.type !== 'boolean'
    if (isSecret) assert.equal(property.writeOnly, true, `${here} looks like a secret; mark it writeOnly: true`)
    checkEnvironmentName(property.env, here, names)
  }
}

function checkEnvironmentName (name: unknown, here: string, seen: Set<string>) {
  if (name === undefined) return
  assert.ok(typeof name === 'string' && ENVIRONMENT_NAME.test(name), `${here}: env ${JSON.stringify(name)} must be UPPER_CASE`)
  assert.ok(!seen.has(name), `${here}: env ${name} is already that of another property`)
  seen.add(name)
}

/** What only providers declare. */
export function checkProviderDefinition (definition: ProviderDefinition) {
  assert.ok(['integer', 'string'].includes(definition.id), `id must be 'integer' or 'string', not ${definition.id}`)
  assert.equal(typeof definition.identify, 'function', 'a provider needs identify (rom, ctx)')
  if (definition.metadata !== undefined) {
    assert.equal(definition.metadata.type, 'object', 'metadata must be an object schema: Type.Object({ … })')
  }
  if (definition.tag !== undefined) {
    assert.match(definition.tag, /^[a-z0-9+-]+$/, `the tag "${definition.tag}" must be lower-case letters and digits`)
    assert.equal(typeof definition.getById, 'function', `the tag "${definition.tag}" fixes an id, so getById is needed`)
  }
  const known = new Set(PLATFORMS.map((platform) => platform.slug))
  for (const slug of Object.keys(definition.platforms ?? {})) {
    assert.ok(known.has(slug), `platforms: "${slug}" is no canonical slug; take one of PLATFORMS`)
  }
  for (const [name, limit] of Object.entries(definition.limits ?? {})) {
    assert.ok(Number.isFinite(limit) && limit > 0, `limits.${name} must be a number above 0, not ${limit}`)
  }
}

/** The values of a configuration that must never be seen, from four characters on. */
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

/** Fails when one of the secrets can be read, plain or URL-encoded. */
export function checkNoSecrets (secrets: readonly string[], text: string, what: string) {
  for (const secret of secrets) {
    const isSeen = text.includes(secret) || text.includes(encodeURIComponent(secret))
    assert.ok(!isSeen, `${what} shows a writeOnly value: ${text.slice(0, 300)}`)
  }
}
