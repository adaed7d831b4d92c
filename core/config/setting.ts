import { type StringOptions, type TSchema, Type } from '@sinclair/typebox'
import type { FormatName } from './formats.ts'

/** A boolean that is off unless set. */
export const Switch = (env: string, description: string) => Type.Boolean({ default: false, env, description })
/** A text of one of the formats whose words messages use. */
export const Formatted = (format: FormatName, options: StringOptions = {}) => Type.String({ ...options, format })
/** A list of names, empty unset. */
export const Names = (description: string, defaults: string[] = [], options: { env?: string } = {}) =>
  Type.Array(Type.String({ minLength: 1 }), { default: defaults, description, ...options })
/** A part of the configuration, there even when nothing in it is set. */
export const Section = <P extends Record<string, TSchema>>(properties: P, description?: string) =>
  Type.Object(properties, { default: {}, description })
