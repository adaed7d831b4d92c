import type { FastifyInstance } from 'fastify'
import type { UsableContainer } from './containers.ts'

/**
 * Where a library lies on machines. The path that a machine has for the library is that of the first one; the others
 * lie there where they lie here.
 *
 * @throws ApiError NOT_FOUND for one that is not configured any more
 */
export async function locateLibrary (
  library: Pick<FastifyInstance['library'], 'get' | 'list'>, id: number
): Promise<(container: Pick<UsableContainer, 'library_path'>) => string> {
  const { dir } = await library.get(id)
  const [first] = await library.list()
  return ({ library_path: path }) => first?.id === id && path !== null ? path : dir
}
