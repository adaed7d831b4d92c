import { readFileSync } from 'node:fs'
import t from 'tap'
import * as sdk from '../src/index.ts'
import * as testing from '../testing/index.ts'
import { readReport, renderSurface } from './surface.ts'

// Removing or renaming one of these is a new major version of the SDK. A new name needs a line here and in
// CHANGELOG.md.
const VALUES = [
  'CredentialsRefusedError', 'DeliveryRefusedError', 'GameFieldsSchema', 'HttpStatusError', 'InvalidSettingsError',
  'MEDIA_KINDS', 'ManifestSchema', 'MatchSchema', 'MediaSchema', 'PLATFORMS', 'PLAY_STATUSES', 'RateLimitedError',
  'SDK_VERSION', 'ServiceDownError', 'Type', 'XmlError', 'compareTitles', 'completeDescription', 'contentHashes',
  'createXmlElement', 'defineChannel', 'defineExporter', 'defineProvider', 'describeProduction', 'findBestCandidate',
  'findBestTitle', 'isFields', 'languageName', 'lastPart', 'listMedia', 'listPlatformIds', 'minimumAge', 'normalizeTitle', 'parseDate',
  'parseJson', 'parseXml', 'parseXmlFragment', 'platformIds',
  'rankCandidates', 'readDate', 'readFields', 'readHtml', 'readId', 'readInteger', 'readNames', 'readNumber',
  'readNumeric', 'readRating', 'readText', 'readTexts', 'readUrl', 'readXmlRecords', 'regionCode', 'regionName', 'renderXml',
  'splitTitles', 'strictestAge', 'toFieldsList', 'toPlainText', 'toQuery', 'toSearchTerm', 'unique', 'withoutEmpty', 'xmlChildren',
  'xmlText', 'youtubeVideoId'
]
const TYPES = [
  'Allowance', 'ArchiveMember', 'BestTitle', 'BestTitleOptions', 'Cache', 'Channel', 'ChannelDefinition', 'Context',
  'ContextOf', 'CoverChoice', 'CoverGroup', 'ExportGame', 'ExportPlatform', 'ExportResult', 'Exporter',
  'ExporterDefinition', 'FetchedMedia', 'Fields', 'FileEntry', 'Files', 'GameFields', 'GameProgress', 'Hashes',
  'HostOptions', 'HttpClient', 'HttpResponse', 'Index', 'IndexEntry', 'Limits', 'LinkMatch', 'LinkedIds', 'Logger',
  'Manifest', 'Match', 'Media', 'MediaKind', 'NotificationLevel', 'OutgoingNotification', 'ParsedUrl', 'PartialDate', 'PlatformEntry',
  'PlatformFacts', 'PlatformRecord', 'PlayStatus', 'Plugin', 'PluginDefinition', 'PluginKind', 'Preferences', 'Provider',
  'ProviderContext', 'ProviderContextOf', 'ProviderDefinition', 'ProviderId', 'ProviderIdType', 'ProviderKind', 'RankedCandidate',
  'Rate',
  'RequestOptions', 'Rom', 'RomFile', 'RomPlatform', 'SceneProduction', 'SearchQuery', 'Static', 'TitleOptions', 'TitleTable', 'XmlComment', 'XmlElement',
  'XmlInstruction', 'XmlNode', 'XmlOptions', 'XmlText', 'ZipMember'
]
const TESTING_VALUES = [
  'createContext', 'createExportGame', 'createNotification', 'createPluginContext', 'createRom', 'loadResponses',
  'testChannel', 'testExporter', 'testProvider'
]
const TESTING_TYPES = [
  'ChannelSuite', 'ConfigOf', 'ContextOptions', 'ExporterSuite', 'KnownRom', 'LogLine', 'PlannedResponse',
  'ProviderSuite', 'RecordedRequest', 'Responses', 'RomOverrides', 'SuiteContext', 'TestContext', 'TestRunner'
]

/** Returns every name that an index file re-exports, read from its text, because types leave no trace at run time. */
function exportedNames (file: string): string[] {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8')
  return [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)]
    .flatMap((match) => (match[1] ?? '').split(','))
    .map((name) => name.replace(/^\s*(?:type )?/, '').trim())
    .filter((name) => name !== '')
    .sort()
}

t.test('the public surface equals the recorded one', async (t) => {
  t.same(Object.keys(sdk).sort(), VALUES)
  t.same(exportedNames('../src/index.ts'), [...VALUES, ...TYPES].sort())
})

t.test('the surface of the test kit equals the recorded one', async (t) => {
  t.same(Object.keys(testing).sort(), TESTING_VALUES)
  t.same(exportedNames('../testing/index.ts'), [...TESTING_VALUES, ...TESTING_TYPES].sort())
})

t.test('the shape of all exports equals the recorded one', async (t) => {
  t.equal(renderSurface(), readReport(), 'a shape of the SDK changed. Taking something away or making it narrower needs a new ' +
    'major version, adding to it a line in CHANGELOG.md; accept the change with "npm run surface"')
})

t.test('the contract version equals the package version and is in the changelog', async (t) => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  t.equal(sdk.SDK_VERSION, version)
  t.match(readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8'), `## ${version}`)
})

t.test('the README names every exported value', async (t) => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  for (const name of [...VALUES, ...TESTING_VALUES]) t.ok(readme.includes(name), name)
})
