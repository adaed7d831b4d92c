import type { Static, TSchema } from '@sinclair/typebox'

/** A section of the configuration that a feature declares, and the way to read it. */
export class ConfigSection<Schema extends TSchema = TSchema> {
  /** The key in `config.yml`. */
  readonly name: string
  readonly schema: Schema
  /** True if changes of `config.yml` take effect at run time. Code that copies a value of the section misses them. */
  readonly isLive: boolean

  constructor (name: string, schema: Schema, isLive: boolean) {
    this.name = name
    this.schema = schema
    this.isLive = isLive
  }

  /** Returns the section of a loaded configuration. */
  of (config: object): Static<Schema> {
    return (config as Record<string, Static<Schema>>)[this.name]
  }
}

/** The values of a section. */
export type SectionOf<Section extends ConfigSection> = Static<Section['schema']>

/** Declares a section of the configuration. The descriptor of the feature names the module that exports it. */
export const defineSection = <Schema extends TSchema>(
  name: string, schema: Schema, { isLive = false }: { isLive?: boolean } = {}
): ConfigSection<Schema> => new ConfigSection(name, schema, isLive)
