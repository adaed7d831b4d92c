import { Type } from '@sinclair/typebox'
import { callerOf, requireScope } from '../../core/access/auth.ts'
import { ErrorSchema, type Routes } from '../../core/typebox.ts'
import {
  BindingSchema, ConfigViewSchema, ExclusionParams, ExclusionRestParams, ExclusionSchema, FolderParams,
  ScanSettingsSchema
} from './schemas.ts'
import type { BindingKind } from './bindings.ts'

const tags = ['config']
const config = { scopes: ['platforms.write'] as const, audit: 'settings.changed' as const }
const response = { 200: Type.Null(), 409: ErrorSchema, 500: ErrorSchema }

/** Number of slashes before the last part of the addresses that delete an entry. */
const SLASHES = 5

function decode (text: string): string[] {
  try {
    return [decodeURIComponent(text)]
  } catch {
    // The text contains a literal percent sign.
    return []
  }
}

/** Returns the possible meanings of an address's last part, because some clients send names without encoding. */
function readSpellings (url: string): string[] {
  const sent = url.split('/').slice(SLASHES).join('/')
  const path = sent.split('?')[0] ?? ''
  return [...new Set([sent, path, ...decode(path)])].filter(Boolean)
}

const BINDINGS: { kind: BindingKind, noun: string, what: string }[] = [
  { kind: 'platforms', noun: 'PlatformBinding', what: 'another platform' },
  { kind: 'versions', noun: 'PlatformVersion', what: 'the platform of which it is a version' }
]

const routes: Routes = async (app) => {
  app.get('/api/config', {
    schema: {
      operationId: 'getConfig',
      tags,
      summary:
        'Get the settings that apps need; without a credential, they omit the library, the network and ' +
        'secrets',
      response: { 200: ConfigViewSchema }
    },
    config: { public: true }
  }, async (request) => await app.settings.read({ db: request.db, caller: request.caller }))

  for (const { kind, noun, what } of BINDINGS) {
    app.post(`/api/config/system/${kind}`, {
      schema: {
        operationId: `add${noun}`,
        tags,
        summary: `Bind a folder to ${what}, from the next scan on; a folder with an entry keeps it`,
        body: BindingSchema,
        response
      },
      config
    }, async (request) => {
      await app.settings.bind(kind, request.body)
      return null
    })

    app.delete(`/api/config/system/${kind}/:fs_slug`, {
      schema: {
        operationId: `delete${noun}`, tags, summary: `Remove the binding of a folder to ${what}`, params: FolderParams, response
      },
      config
    }, async (request) => {
      await app.settings.unbind(kind, readSpellings(request.url))
      return null
    })
  }

  app.post('/api/config/exclude', {
    schema: {
      operationId: 'addExclusion', tags, summary: 'Add an exclusion, from the next scan on', body: ExclusionSchema, response
    },
    config
  }, async (request) => {
    await app.settings.exclude(request.body)
    return null
  })

  app.delete('/api/config/exclude/:exclusion_type/:exclusion_value', {
    schema: {
      operationId: 'deleteExclusion',
      tags,
      summary: 'Remove an exclusion, from the next scan on; built-in ones stay',
      params: ExclusionParams,
      response
    },
    config
  }, async (request) => {
    await app.settings.include(request.params.exclusion_type, readSpellings(request.url))
    return null
  })

  app.delete('/api/config/exclude/:exclusion_type/*', {
    schema: { hide: true, params: ExclusionRestParams, response }, config
  }, async (request) => {
    await app.settings.include(request.params.exclusion_type, readSpellings(request.url))
    return null
  })

  app.put('/api/config/scan', {
    schema: {
      operationId: 'updateScanConfig',
      tags,
      summary:
        'Replace the settings of scans; region changes apply to lists of ROMs at once, all others from the next ' +
        'scan on',
      description: 'Enabling an export also needs `roms.write`, because scans then write into the library.',
      body: ScanSettingsSchema,
      response
    },
    config
  }, async (request) => {
    if (app.settings.enablesExport(request.body)) requireScope(callerOf(request), 'roms.write')
    await app.settings.changeScan(request.body)
    return null
  })
}

export default routes
