/**
 * What the corpus is made with. The tools come from PyPI, the registries of npm, Go, Rust and Maven, and Debian.
 */
import { npmListings, npmRecipes } from "./npm-recipes.ts";
import { otherListings, otherRecipes } from "./other-recipes.ts";
import { pythonListings, pythonRecipes } from "./python-recipes.ts";
import type { Listing, Recipe } from "./recipe.ts";

export const recipes: readonly Recipe[] = [...npmRecipes, ...pythonRecipes, ...otherRecipes];
export const listings: readonly Listing[] = [...npmListings, ...pythonListings, ...otherListings];
