import neostandard, { plugins, resolveIgnoresFromGitignore } from 'neostandard'

const typeChecked = plugins['typescript-eslint'].configs.recommendedTypeChecked
  .map((config) => ({ ...config, files: ['**/*.ts', '**/*.tsx'] }))

export default [
  ...neostandard({ ts: true, ignores: [...resolveIgnoresFromGitignore(), '**/dist/**', '.ci/**'] }),
  ...typeChecked,
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@stylistic/max-len': ['error', { code: 120, ignoreUrls: true, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // A schema or entity and the type made from it share one name.
      '@typescript-eslint/no-redeclare': 'off',
      '@stylistic/object-property-newline': 'off',
      // Marks a promise that is left alone on purpose.
      'no-void': ['error', { allowAsStatement: true }],
      // Services are objects made by functions; nothing in them uses `this`.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/require-await': 'off'
    }
  },
  {
    // The rule does not see that generic events and the strict attributes of preact need an assertion.
    files: ['plugins/console/web/**'],
    rules: { '@typescript-eslint/no-unnecessary-type-assertion': 'off' }
  },
  {
    files: ['**/*.{test,soak}.ts', 'test/**', '**/testing/**'],
    rules: {
      '@typescript-eslint/no-floating-promises': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off'
    }
  }
]
