import js from "@eslint/js";
import hooks from "eslint-plugin-react-hooks";
import ts from "typescript-eslint";

export default ts.config(
  { ignores: ["src/api/generated.ts"] },
  js.configs.recommended,
  ...ts.configs.strict,
  hooks.configs.flat["recommended-latest"],
  {
    rules: {
      // Two mirrors are kept on purpose: the flow's nodes follow the document, and a chart's callbacks read the latest props.
      "react-hooks/set-state-in-effect": "off",
      "react-hooks/refs": "off",
      "react-hooks/incompatible-library": "off", // about the React compiler, which is not used
    },
  },
  {
    rules: {
      "max-len": ["error", { code: 140, ignoreStrings: true, ignoreTemplateLiterals: true, ignorePattern: ' d="' }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true }],
    },
  },
);
