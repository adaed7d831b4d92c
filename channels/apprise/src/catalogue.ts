import { InvalidSettingsError, Type, type Static } from '@svc/plugin-sdk'
import { fetchBridged, toBridgedService } from './bridge.ts'
import { checkFields, invalidField } from './fields.ts'
import { fieldsOf, type Fields, type Form, isToken, type RawUrl, schemasOf } from './form.ts'
import type { Service } from './service.ts'
import { SERVICES } from './services/index.ts'
import type { AppriseContext, Settings } from './settings.ts'
import { addOptions, type ReadUrl, readUrl, splitUrl, withoutOptions } from './url.ts'

const FieldSchema = Type.Object({
  key: Type.String(),
  label: Type.String(),
  type: Type.Union(['string', 'int', 'float', 'bool', 'choice', 'list'].map((type) => Type.Literal(type))),
  required: Type.Boolean(),
  private: Type.Boolean(),
  advanced: Type.Boolean(),
  default: Type.Union([Type.Boolean(), Type.Number(), Type.String(), Type.Null()]),
  values: Type.Union([Type.Array(Type.String()), Type.Null()]),
  min: Type.Union([Type.Number(), Type.Null()]),
  max: Type.Union([Type.Number(), Type.Null()])
})

/** One service, described for a form. */
export const ServiceSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  setup_url: Type.Union([Type.String(), Type.Null()]),
  url_fields: Type.Array(Type.String()),
  fields: Type.Array(FieldSchema)
})

export function describeService (form: Form): Static<typeof ServiceSchema> {
  const { id, name, setupUrl, urlFields } = form
  const fields = Object.entries(fieldsOf(form)).map(([key, field]) => ({
    key,
    label: field.label,
    type: field.type,
    required: field.required ?? false,
    private: field.private ?? false,
    advanced: !isToken(form, key),
    default: field.default ?? null,
    values: field.values === undefined ? null : [...field.values],
    min: field.min ?? null,
    max: field.max ?? null
  }))
  return { id, name, setup_url: setupUrl, url_fields: [...urlFields], fields }
}

export function findBuiltIn (id: string): Service | undefined {
  return SERVICES.find((service) => service.id === id)
}

/**
 * Finds the service for these settings and checks its fields.
 *
 * @throws InvalidSettingsError · ServiceDownError
 */
export async function resolve (settings: Settings, ctx: AppriseContext): Promise<{ service: Service, fields: Fields }> {
  const builtIn = findBuiltIn(settings.service)
  if (builtIn !== undefined) return { service: builtIn, fields: checkFields(builtIn, settings.fields) }
  const form = (await fetchBridged(ctx)).find(({ id }) => id === settings.service)
  const { apiUrl } = ctx.config
  if (form === undefined || apiUrl === undefined) {
    throw new InvalidSettingsError(`There is no service '${settings.service}'; use one of the list, or set SVC_APPRISE_API_URL for more`)
  }
  const fields = checkFields(form, settings.fields)
  return { service: toBridgedService(form, fields, apiUrl), fields }
}

/** Settings from a URL, with warnings about the parts that were skipped. */
export interface ReadAddress extends Settings { warnings: string[] }

/** Reads settings from a URL of Apprise, or from a URL that a service itself offers to copy; null for any other. */
export function readAddress (text: string, forms: readonly (Form | Service)[]): ReadAddress | null {
  const raw = splitUrl(text)
  if (raw === null) return null
  const form = forms.find((candidate) => schemasOf(candidate).includes(raw.schema))
  if (form !== undefined) return name(form, readUrl(form, raw))
  return /^https?$/.test(raw.schema) && URL.canParse(text) ? readNative(new URL(text), raw, forms) : null
}

function readNative (url: URL, raw: RawUrl, forms: readonly (Form | Service)[]): ReadAddress | null {
  for (const form of forms) {
    const fields = 'readNative' in form ? form.readNative?.(url) ?? null : null
    const nativeNames = 'nativeQuery' in form ? form.nativeQuery ?? [] : []
    if (fields !== null) {
      return name(form, addOptions(form, fields, { ...raw, query: withoutOptions(raw, nativeNames) }))
    }
  }
  return null
}

function name ({ id }: Form, { fields, warnings }: ReadUrl): ReadAddress {
  return { service: id, fields: { ...fields }, warnings: [...warnings] }
}

export function refuseWhiteSpace (text: string): void {
  if (/\s/.test(text)) throw invalidField({ name: 'The URL' }, 'has white space in it', 'remove it, or write it as %20')
}
