import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { TSchema } from '@sinclair/typebox'
import type * as Yaml from 'yaml'
import { StartError } from '../errors.ts'

const require = createRequire(import.meta.url)

/** Removes nulls: YAML reads an empty section as null, and it means "nothing set". */
function dropNulls (value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, child]) => child !== null)
    .map(([key, child]) => [key, dropNulls(child)]))
}

/**
 * Reads a file of the operator.
 *
 * @param alternative to the right to read the file, for the error
 * @throws StartError if this user may not read it
 */
export function readText (file: string, alternative: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (err) {
    throw new StartError(`${file} cannot be read: ${(err as Error).message}. Give this user the right to read it, or ` +
      `${alternative}.`, { cause: err })
  }
}

/** Parses the text; null if it is empty. The parser is loaded at its first use, because most servers have no file. */
function parseYaml (file: string, text: string): unknown {
  if (text === '') return null
  const { parseDocument } = require('yaml') as typeof Yaml
  const document = parseDocument(text)
  const [problem] = document.errors
  if (problem !== undefined) {
    throw new StartError(`${file} is not valid YAML: ${problem.message} Correct the file or move it away.`)
  }
  try {
    return document.toJS()
  } catch (err) {
    // An alias without its anchor fails only here.
    throw new StartError(`${file} is not valid YAML: ${(err as Error).message}. Correct the file or move it away.`, { cause: err })
  }
}

/**
 * Returns the content of a config file as an object.
 *
 * @throws StartError naming file, line and remedy if it is not YAML or not a mapping.
 */
export function readContent (file: string, text: string): Record<string, unknown> {
  const content: unknown = dropNulls(parseYaml(file, text) ?? {})
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new StartError(`${file} must hold keys and values at its top level. Correct the file or move it away.`)
  }
  return content as Record<string, unknown>
}

/** Returns the keys of the file that no setting has: most likely typing errors. */
export function findUnknownKeys (content: unknown, schema: TSchema, path: string[] = []): string[] {
  if (schema.properties === undefined || typeof content !== 'object' || content === null) return []
  const properties = schema.properties as Record<string, TSchema>
  return Object.entries(content).flatMap(([key, value]) => {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (property !== undefined) return findUnknownKeys(value, property, [...path, key])
    return schema.additionalProperties === undefined ? [[...path, key].join('.')] : []
  })
}
