import { type TSchema, Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Section } from '../../core/config/setting.ts'
import type { ImporterDefinition, ImporterSettings } from './contract.ts'
import { IMPORTERS } from './importers.ts'

function toSection ({ key, title, options }: ImporterDefinition): TSchema {
  const settings = Object.entries(options).map(([name, { description, secret = false }]): [string, TSchema] => {
    const env = `IMPORT_${key}_${name}`.toUpperCase()
    const masked = secret ? { writeOnly: true } : {}
    return [name, Type.Optional(Type.String({ minLength: 1, maxLength: 4_096, description, env, ...masked }))]
  })
  return Section(Object.fromEntries(settings), `Import from ${title}`)
}

const sections = Object.fromEntries(IMPORTERS.map((importer) => [importer.key, toSection(importer)]))

export const importsConfig = defineSection('imports', Section(sections, 'Imports from other programs'))

/** Returns the settings of an importer that the operator configured. */
export const readSettings = (config: object, key: string): ImporterSettings =>
  (importsConfig.of(config) as Record<string, ImporterSettings | undefined>)[key] ?? {}
