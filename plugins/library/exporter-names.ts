import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Registry } from '../../core/loader/registry.ts'
import type { ReservedNames } from './exclusions.ts'

const ExporterNamesSchema = Type.Object({
  fileName: Type.String(), media: Type.Record(Type.String(), Type.String())
})

/** Returns the first folder of a path in the platform folder; undefined if the path leaves that folder. */
function topFolder (path: string): string | undefined {
  const [top] = path.split('/').filter((part) => part !== '' && part !== '.')
  return top === '..' ? undefined : top
}

/**
 * Lists the names that installed exporters write in platform folders. Disabled exporters count too, because their files
 * still exist.
 */
export function listExporterNames ({ descriptions }: Pick<Registry, 'descriptions'>): ReservedNames {
  const exporters = descriptions.flatMap(({ descriptor }) =>
    descriptor?.kind === 'exporter' && Value.Check(ExporterNamesSchema, descriptor.data) ? [descriptor.data] : [])
  return {
    files: exporters.map(({ fileName }) => fileName),
    folders: exporters.flatMap(({ media }) => Object.values(media).map(topFolder)).filter((name) => name !== undefined)
  }
}
