import type { FastifyInstance } from 'fastify'
import type { UsableContainer } from './containers.ts'

/**
 * Returns a function that locates a library on a machine. The path in a machine's settings is that of the first
 * library; other libraries have the same path as here.
 *
 * @throws ApiError NOT_FOUND for a library that is no longer configured
 */
export async function locateLibrary (
  library: Pick<FastifyInstance['library'], 'get' | 'list'>, id: number
): Promise<(container: Pick<UsableContainer, 'library_path'>) => string> {
  const { dir } = await library.get(id)
  const [first] = await library.list()
  return ({ library_path: path }) => first?.id === id && path !== null ? path : dir
}
