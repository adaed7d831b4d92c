import type { Config } from '../config/config.ts'
import { createFsStore } from './fs-store.ts'
import { readStoreAddress } from './s3/address.ts'
import { createS3Store } from './s3/s3-store.ts'
import type { Store } from './store.ts'

/** Creates the store of the configuration. */
export function createStore (config: Config): Store {
  const { url } = config.store
  return url === undefined ? createFsStore(config.data_dir) : createS3Store(readStoreAddress(url, config.store))
}
