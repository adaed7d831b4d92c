import type { Context } from '../../core/access/context.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import type { Addresses } from '../resources/addresses.ts'
import { unknownCollection } from './access.ts'
import { selectCollections } from './rows.ts'
import type { CollectionView } from './schemas.ts'
import { toCollectionView } from './views.ts'

/** @throws ApiError NOT_FOUND unless the caller sees the collection */
export async function getCollection (
  context: Context<AnyCaller>, id: number, addresses: Addresses
): Promise<CollectionView> {
  const [row] = await selectCollections(context, { id })
  if (row === undefined) throw unknownCollection(id)
  return toCollectionView(row, addresses)
}
