export type { ImportedAsset, ImportedContent } from './uploads/import-asset.ts'
