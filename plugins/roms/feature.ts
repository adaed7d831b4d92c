import { type Feature, defineFeature } from '../../core/feature.ts'
import type { UserFiles } from './extensions.ts'

/** @param loadUserFiles loads the access to files that users store for ROMs, which a feature above this one has */
export default (loadUserFiles: () => Promise<UserFiles>): Feature => defineFeature({
  name: 'roms',
  needs: ['database', 'auth-core', 'permissions', 'loader', 'library', 'platforms', 'resources'],
  entities: () => import('./entities.ts'),
  tags: { roms: 'Games: lists, details, editing, files, downloads, notes and patches' },
  fieldNames: async () => (await import('./schemas.ts')).ROM_FIELD_NAMES,
  plugin: async () => {
    const [{ default: createPlugin }, userFiles] = await Promise.all([import('./plugin.ts'), loadUserFiles()])
    return { default: createPlugin(userFiles) }
  },
  routes: () => import('./routes/index.ts')
})
