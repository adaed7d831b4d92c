import { readFileSync } from 'node:fs'
import t from 'tap'
import { SDK_VERSION } from '../src/index.ts'
import { ENTRY_SOURCES, listUndocumented, readReport, renderSurface } from './surface.ts'

/**
 * The names that each entry point exports. Removing or renaming one is a new major version of the SDK. A new name needs
 * a line here and in CHANGELOG.md.
 */
const SURFACE: Readonly<Record<string, { values: readonly string[], types: readonly string[] }>> = {
  '@svc/plugin-sdk': {
    values: [
      'CredentialsRefusedError', 'DeliveryRefusedError', 'GameFieldsSchema', 'HASH_KINDS', 'HashStepSchema',
      'HttpStatusError',
      'InvalidSettingsError', 'LookupCandidateSchema', 'LookupStepSchema', 'MEDIA_KINDS', 'ManifestSchema', 'MatchSchema',
      'MediaSchema', 'PLATFORMS',
      'PLAY_STATUSES', 'RateLimitedError', 'SDK_VERSION', 'SearchStepSchema', 'ServiceDownError', 'SidecarStepSchema',
      'Type', 'contentHashes',
      'defineChannel', 'defineExporter', 'defineProvider', 'formerGameName', 'gameFolder', 'isDeletedMedia', 'languageName', 'listHashKinds', 'listPlatformIds', 'minimumAge',
      'platformIds', 'regionCode', 'regionName', 'strictestAge'
    ],
    types: [
      'Allowance', 'ArchiveMember', 'Cache', 'Channel', 'ChannelDefinition', 'Context', 'ContextOf', 'CoverChoice',
      'CoverGroup', 'ExportGame', 'ExportPlatform', 'ExportResult', 'Exporter', 'ExporterDefinition', 'FetchedMedia',
      'FileEntry', 'Files', 'GameFields', 'GameProgress', 'HashKind', 'Hashes', 'HttpClient', 'HttpResponse',
      'Index', 'IndexEntry', 'Limits', 'LinkMatch', 'LinkedIds', 'Logger', 'LookupCandidate', 'LookupStep', 'Manifest', 'Match',
      'Media', 'MediaKind',
      'NotificationLevel', 'OutgoingNotification', 'ParsedUrl', 'PlatformEntry', 'PlatformFacts', 'PlatformRecord',
      'PlayStatus', 'Plugin', 'PluginDefinition', 'PluginKind', 'Preferences', 'Provider', 'ProviderContext',
      'ProviderContextOf', 'ProviderDefinition', 'ProviderId', 'ProviderIdType', 'ProviderIndex', 'ProviderKind',
      'ProviderMedia', 'ProviderOrder', 'ProviderProgress', 'Rate',
      'RequestOptions', 'Rom', 'RomFile', 'RomPlatform', 'SearchQuery', 'SearchStep', 'Static', 'TitleTable', 'ZipMember'
    ]
  },
  '@svc/plugin-sdk/readers': {
    values: [
      'isFields', 'listMedia', 'parseDate', 'parseJson', 'readDate', 'readFields', 'readHtml', 'readId',
      'readInteger', 'readNames', 'readNumber', 'readNumeric', 'readRating', 'readText', 'readTexts', 'readUrl',
      'toFieldsList', 'toPlainText', 'unique', 'withoutEmpty', 'youtubeVideoId'
    ],
    types: [
      'Fields', 'PartialDate'
    ]
  },
  '@svc/plugin-sdk/scene': {
    values: [
      'completeDescription', 'describeProduction'
    ],
    types: [
      'SceneProduction'
    ]
  },
  '@svc/plugin-sdk/titles': {
    values: [
      'compareTitles', 'findBestCandidate', 'findBestTitle', 'isContinuation', 'lastPart', 'normalizeTitle', 'rankCandidates',
      'splitTitles', 'toQuery', 'toSearchTerm'
    ],
    types: [
      'BestTitle', 'BestTitleOptions', 'RankedCandidate', 'TitleOptions'
    ]
  },
  '@svc/plugin-sdk/xml': {
    values: [
      'XmlError', 'createXmlElement', 'parseXml', 'parseXmlFragment', 'readXmlRecords', 'renderXml', 'xmlChildren',
      'xmlText'
    ],
    types: [
      'XmlComment', 'XmlElement', 'XmlInstruction', 'XmlNode', 'XmlOptions', 'XmlText'
    ]
  },
  '@svc/plugin-sdk/testing': {
    values: [
      'createContext', 'createExportGame', 'createNotification', 'createPluginContext', 'createRom', 'loadResponses',
      'testChannel', 'testExporter', 'testProvider'
    ],
    types: [
      'ChannelSuite', 'ConfigOf', 'ContextOptions', 'ExporterSuite', 'KnownRom', 'LogLine', 'PlannedResponse',
      'ProviderSuite', 'RecordedRequest', 'Responses', 'RomOverrides', 'SuiteContext', 'TestContext', 'TestRunner'
    ]
  }
}

/** Returns every name that an index file exports, read from its text, because types leave no trace at run time. */
function exportedNames (file: URL): string[] {
  const text = readFileSync(file, 'utf8')
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap((match) => (match[1] ?? '').split(','))
  const declared = [...text.matchAll(/^export (?:async )?(?:function|class|interface|type|const) (?:\* )?(\w+)/gm)]
    .map((match) => match[1] ?? '')
  const names = [...listed.map((name) => name.replace(/^\s*(?:type )?/, '').trim()), ...declared]
  return [...new Set(names)].filter((name) => name !== '').sort()
}

t.test('package.json exports the recorded entry points', async (t) => {
  t.same([...ENTRY_SOURCES.keys()].sort(), Object.keys(SURFACE).sort())
})

t.test('each entry point exports the recorded names', async (t) => {
  for (const [name, source] of ENTRY_SOURCES) {
    const { values = [], types = [] } = SURFACE[name] ?? {}
    t.same(Object.keys(await import(source.href) as object).sort(), [...values].sort(), name)
    t.same(exportedNames(source), [...values, ...types].sort(), name)
  }
})

t.test('the shape of all exports equals the recorded one', async (t) => {
  t.equal(renderSurface(), readReport(), 'a shape of the SDK changed. Taking something away or making it narrower needs a new ' +
    'major version, adding to it a line in CHANGELOG.md; accept the change with "npm run surface"')
})

t.test('every export has a doc comment', async (t) => {
  t.same(listUndocumented(), [])
})

t.test('the contract version equals the package version and is in the changelog', async (t) => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  t.equal(SDK_VERSION, version)
  t.match(readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8'), `## ${version}`)
})

t.test('the README names every exported value', async (t) => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  for (const name of Object.values(SURFACE).flatMap(({ values }) => values)) t.ok(readme.includes(name), name)
})
